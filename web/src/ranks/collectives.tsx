import { formatCount, formatDuration } from "../format";
import { Panel } from "../panel";
import type { Collective } from "../summary";
import { DataTable, type Column } from "../table";

const nameOf = (row: Collective): string => (row.group ? `${row.name} (group ${row.group})` : row.name);
const time = (label: string, value: (row: Collective) => number): Column<Collective> =>
  ({ label, value, text: (row) => formatDuration(value(row)), unit: "ns", width: 130 });

const kColumns: Column<Collective>[] = [
  { label: "collective", value: nameOf, text: nameOf },
  { label: "count", value: (row) => row.count, text: (row) => formatCount(row.count), width: 90 },
  { ...time("spread of arrivals", (row) => row.mean_spread_ns), width: 160, narrow: true },
  time("worst", (row) => row.worst_ns),
  time("exchange", (row) => row.mean_exchange_ns),
];

// In which collectives the ranks wait for each other; means of each.
export function Collectives({ rows }: { rows: Collective[] }) {
  return (
    <Panel title="Collectives" note="from the first to the last to arrive, and the exchange after that" span={12}>
      <DataTable label={{ one: "collective", many: "collectives" }} rows={rows} columns={kColumns} name={nameOf} sort={{ column: 2, down: true }} height={340} />
    </Panel>
  );
}
