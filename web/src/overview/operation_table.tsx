import { formatCount, formatDuration, formatPercent } from "../format";
import { ofPeakText } from "../kernels/rates";
import { Bar, Panel } from "../panel";
import { kindWords, type Operation, type ShownName } from "../summary";
import { DataTable, type Column } from "../table";
import { useMemo } from "preact/hooks";

// Every operation of the run, host and GPU.
export function OperationTable(props: { operations: Operation[]; shown: ShownName; chosen: Operation | null; choose: (row: Operation) => void }) {
  const { operations, shown, chosen, choose } = props;
  const columns = useMemo(() => columnsOf(operations, shown), [operations]);
  return (
    <Panel title="All operations" note="shares of the self time of all" span={12}>
      <div class="choosable"><DataTable
        label={{ one: "operation", many: "operations" }} rows={operations} columns={columns} name={(row) => row.name} sort={{ column: 4, down: true }} height={460}
        chosen={chosen} choose={choose}
      /></div>
    </Panel>
  );
}

function columnsOf(operations: Operation[], shown: ShownName): Column<Operation>[] {
  const largest = operations.reduce((most, row) => Math.max(most, row.self_ns), 1);
  const time = (label: string, value: (row: Operation) => number): Column<Operation> =>
    ({ label, value, text: (row) => formatDuration(value(row)), unit: "ns", width: 86 });
  return [
    { label: "operation", value: (row) => row.name, text: shown },
    { label: "kind", left: true, value: (row) => row.kind, text: (row) => <span class="type"><i class={`fill ${row.part}`} />{kindWords(row.kind)}</span>, width: 128 },
    { label: "calls", value: (row) => row.calls, text: (row) => formatCount(row.calls), width: 80 },
    time("total", (row) => row.total_ns),
    { ...time("self", (row) => row.self_ns), narrow: true },
    time("mean", (row) => row.mean_ns),
    time("p99", (row) => row.p99_ns),
    ...(operations.some((row) => row.efficiency_pct !== null)
      ? [{ label: "of peak", value: (row: Operation) => row.efficiency_pct, text: (row: Operation) => ofPeakText(row), unit: "%", width: 86 }] : []),
    { label: "share", value: (row) => row.share_pct, text: (row) => formatPercent(row.share_pct), unit: "% of all self time", width: 78, narrow: true },
    { label: "", value: (row) => row.self_ns, text: (row) => <Bar share={row.self_ns / largest} part={row.part} />, width: 130 },
  ];
}
