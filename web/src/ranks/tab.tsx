import { formatDuration, formatPercent, known } from "../format";
import { Nothing, Panel } from "../panel";
import type { Rank } from "../summary";
import type { TabProps } from "../tab";
import { DataTable, type Column } from "../table";
import { RankChart } from "./chart";

const percent = (label: string, value: (row: Rank) => number | null): Column<Rank> =>
  ({ label, value, text: (row) => known(value(row), formatPercent), width: 118 });

const kColumns: Column<Rank>[] = [
  { label: "rank", value: (row) => row.rank, text: (row) => row.label },
  { label: "GPU", value: (row) => row.device, text: (row) => known(row.device, String), width: 70 },
  { label: "GPU time", value: (row) => row.total_ns, text: (row) => known(row.total_ns, formatDuration), width: 110 },
  percent("compute", (row) => row.compute_pct),
  percent("communication", (row) => row.communication_pct),
  percent("copies", (row) => row.memory_pct),
  percent("idle", (row) => row.idle_pct),
  percent("host wait", (row) => row.host_wait_pct),
  percent("overlapped", (row) => row.overlap_pct),
];

export function RanksTab({ summary }: TabProps) {
  const { ranks } = summary;
  if (ranks.length === 0) {
    return <Nothing>This report is of one GPU. Run fathom hta on the traces of several ranks, with -o report.html, to compare them.</Nothing>;
  }
  return (
    <>
      <section class="story"><h1>{summary.story.headline}</h1></section>
      <Panel title="How each rank spent its time" span={12}><RankChart ranks={ranks} /></Panel>
      <Panel title="Ranks" note="shares of each GPU's time, first to last work" span={12}>
        <DataTable label="ranks" rows={ranks} columns={kColumns} name={(row) => row.label} sort={{ column: 0, down: false }} />
      </Panel>
    </>
  );
}
