import { formatDuration, formatPercent, known } from "../format";
import { Nothing, Panel } from "../panel";
import type { Rank } from "../summary";
import type { TabProps } from "../tab";
import { DataTable, type Column } from "../table";

const percent = (label: string, value: (row: Rank) => number | null): Column<Rank> =>
  ({ label, value, text: (row) => known(value(row), formatPercent), width: 110 });

const kColumns: Column<Rank>[] = [
  { label: "rank", value: (row) => row.rank, text: (row) => row.label },
  { label: "GPU time", value: (row) => row.total_ns, text: (row) => known(row.total_ns, formatDuration), width: 110 },
  percent("busy", (row) => row.busy_pct),
  percent("compute", (row) => row.compute_pct),
  percent("communication", (row) => row.communication_pct),
  percent("copies", (row) => row.memory_pct),
  percent("idle", (row) => row.idle_pct),
  percent("overlapped", (row) => row.overlap_pct),
  { label: "late by", value: (row) => row.late_ns, text: (row) => known(row.late_ns, formatDuration), width: 100 },
];

export function RanksTab({ summary }: TabProps) {
  if (summary.ranks.length === 0) {
    return <Nothing>This report is of one rank. fathom hta rank*.json.gz -o report.html compares several.</Nothing>;
  }
  return (
    <Panel title="Ranks" span={12}>
      <DataTable label="ranks" rows={summary.ranks} columns={kColumns} name={(row) => row.label} sort={{ column: 0, down: false }} />
    </Panel>
  );
}
