import { rankAddress } from "../address";
import { formatCount, formatDuration, formatPercent, known } from "../format";
import { Link } from "../link";
import { Nothing, Panel } from "../panel";
import type { Rank } from "../summary";
import type { TabProps } from "../tab";
import { DataTable, type Column } from "../table";
import { RankChart } from "./chart";
import { Collectives } from "./collectives";

const percent = (label: string, value: (row: Rank) => number | null): Column<Rank> =>
  ({ label, value, text: (row) => known(value(row), formatPercent), unit: "%", width: 92 });

const kColumns: Column<Rank>[] = [
  { label: "rank", value: (row) => row.rank, text: (row) => <Link to={rankAddress(row)}>{row.label}</Link> },
  { label: "GPU", value: (row) => row.device, text: (row) => known(row.device, String), width: 54 },
  { label: "run", value: (row) => row.total_ns, text: (row) => known(row.total_ns, formatDuration), unit: "ns", width: 90 },
  { ...percent("compute", (row) => row.compute_pct), narrow: true },
  { ...percent("communication", (row) => row.communication_pct), width: 124 },
  percent("copies", (row) => row.memory_pct),
  { ...percent("idle", (row) => row.idle_pct), narrow: true },
  percent("host wait", (row) => row.host_wait_pct),
  { ...percent("overlapped", (row) => row.overlap_pct), width: 100 },
];

const time = (label: string, value: (row: Rank) => number | null): Column<Rank> =>
  ({ label, value, text: (row) => known(value(row), formatDuration), unit: "ns", width: 82 });

// Where the ranks share collectives, who waits for whom.
const kSkewColumns: Column<Rank>[] = [
  time("waited", (row) => row.waited_ns ?? null),
  { label: "last", value: (row) => row.times_last ?? null, text: (row) => known(row.times_last ?? null, formatCount), width: 54 },
  time("late", (row) => row.late_ns ?? null),
];

export function RanksTab({ summary }: TabProps) {
  const { ranks, skew } = summary;
  if (ranks.length === 0) {
    return <Nothing>This report is of one GPU. Run fathom hta on the traces of several ranks, with -o report.html, to compare them.</Nothing>;
  }
  const columns = skew ? [...kColumns, ...kSkewColumns] : kColumns;
  return (
    <>
      <section class="story">
        <h1>{skew?.story ?? summary.story.headline}</h1>
        {skew && <p>{summary.story.headline}{skew.imbalance_pct === null ? "" : ` The slowest rank computes ${formatPercent(skew.imbalance_pct)} longer than the mean.`}</p>}
      </section>
      <Panel title="How each rank spent its time" span={12}><RankChart ranks={ranks} /></Panel>
      <Panel title="Ranks" note="shares of the run, by GPU; each leads to its work on the timeline" span={12}>
        <DataTable label={{ one: "rank", many: "ranks" }} rows={ranks} columns={columns} name={(row) => row.label} sort={{ column: 0, down: false }} />
      </Panel>
      {skew && skew.collectives.length > 0 && <Collectives rows={skew.collectives} />}
    </>
  );
}
