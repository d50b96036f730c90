import { formatCount, formatDuration, formatPercent } from "../format";
import { Bar } from "../panel";
import { fillIn, type ClassTime, type OperatorTime, type Summary } from "../summary";
import { DataTable, type Column } from "../table";

const kHeight = 460;

// A row per class of GPU work; a click shows its kernels.
export function ClassGroups({ summary, choose }: { summary: Summary; choose: (row: ClassTime) => void }) {
  const { classes } = summary;
  const fill = (row: ClassTime) => fillIn(summary, row.class);
  const largest = Math.max(...classes.map((row) => row.sum_ns), 1);
  const columns: Column<ClassTime>[] = [
    { label: "class", value: (row) => row.label, text: (row) => <span class="type"><i class={`fill ${fill(row)}`} />{row.label}</span> },
    { label: "calls", value: (row) => row.count, text: (row) => formatCount(row.count), width: 90 },
    { label: "sum", value: (row) => row.sum_ns, text: (row) => formatDuration(row.sum_ns), unit: "ns", width: 100, narrow: true },
    { label: "share", value: (row) => row.share_pct, text: (row) => formatPercent(row.share_pct), unit: "% of GPU work", width: 90, narrow: true },
    { label: "", value: (row) => row.sum_ns, text: (row) => <Bar share={row.sum_ns / largest} part={fill(row)} />, width: 220 },
  ];
  return (
    <div class="choosable">
      <DataTable label={{ one: "class", many: "classes" }} rows={classes} columns={columns} name={(row) => row.label} sort={{ column: 2, down: true }} height={kHeight} choose={choose} />
    </div>
  );
}

// A row per operator that launched GPU work; a click shows its kernels.
export function OperatorGroups({ operators, choose }: { operators: OperatorTime[]; choose: (row: OperatorTime) => void }) {
  const largest = Math.max(...operators.map((row) => row.sum_ns), 1);
  const columns: Column<OperatorTime>[] = [
    { label: "launched by", value: (row) => row.name, text: (row) => row.name || "no operator known" },
    { label: "kernels", value: (row) => row.kernels.length, text: (row) => formatCount(row.kernels.length), width: 84 },
    { label: "calls", value: (row) => row.calls, text: (row) => formatCount(row.calls), width: 90 },
    { label: "sum", value: (row) => row.sum_ns, text: (row) => formatDuration(row.sum_ns), unit: "ns", width: 100, narrow: true },
    { label: "share", value: (row) => row.share_pct, text: (row) => formatPercent(row.share_pct), unit: "% of GPU work", width: 90, narrow: true },
    { label: "", value: (row) => row.sum_ns, text: (row) => <Bar share={row.sum_ns / largest} part="gpu" />, width: 180 },
  ];
  return (
    <div class="choosable">
      <DataTable label={{ one: "operator", many: "operators" }} rows={operators} columns={columns} name={(row) => row.name} sort={{ column: 3, down: true }} height={kHeight} choose={choose} />
    </div>
  );
}
