import { fillOfClass, type Fill } from "../classes";
import { formatCount, formatDuration, formatPercent, known } from "../format";
import { Bar } from "../panel";
import type { ClassTime, Operation, Part } from "../summary";
import type { Column } from "../table";
import { achievedText, ofPeakText } from "./rates";

const kTypes: Record<Part, string> = {
  gpu: "compute", comm: "communication", transfer: "copy", overhead: "overhead", cpu: "CPU", idle: "idle",
};
const typeOf = (row: Operation): string => (row.kind === "fill" ? "fill" : kTypes[row.part]);

// The class where the run has any, else the type.
export const typeWords = (row: Operation, classes: ClassTime[]): string =>
  classes.find((known) => known.class === row.class)?.label ?? typeOf(row);

// Its colour, in the table and wherever it is shown by itself.
export const fillOf = (row: Operation, classes: ClassTime[]): Fill => (classes.length > 0 && row.class ? fillOfClass(row.class, row.part) : row.part);

const kRateColumns: Column<Operation>[] = [
  { label: "achieved", value: (row) => row.efficiency_pct, text: achievedText, saved: [["TFLOP/s", (row) => row.tflops], ["GB/s", (row) => row.gb_s]], width: 112 },
  { label: "of peak", value: (row) => row.efficiency_pct, text: ofPeakText, unit: "%", width: 98 },
];

export function columnsOf(kernels: Operation[], classes: ClassTime[], shown: (row: Operation) => string): Column<Operation>[] {
  const hasClasses = classes.length > 0;
  const hasRates = kernels.some((row) => row.tflops !== null);
  const fill = (row: Operation) => fillOf(row, classes);
  const words = (row: Operation) => typeWords(row, classes);
  const largest = kernels.reduce((most, row) => Math.max(most, row.total_ns), 1);
  const time = (label: string, value: (row: Operation) => number): Column<Operation> =>
    ({ label, value, text: (row) => formatDuration(value(row)), unit: "ns", width: 82 });
  return [
    { label: "kernel", value: (row) => row.name, text: shown },
    { label: hasClasses ? "class" : "type", left: true, value: words, text: (row) => <span class="type"><i class={`fill ${fill(row)}`} />{words(row)}</span>, width: hasClasses ? 170 : 146 },
    { label: "calls", value: (row) => row.calls, text: (row) => formatCount(row.calls), width: 76 },
    { ...time("sum", (row) => row.total_ns), narrow: true },
    time("mean", (row) => row.mean_ns),
    ...(hasRates ? [] : [time("min", (row) => row.min_ns), time("max", (row) => row.max_ns)]),
    time("p99", (row) => row.p99_ns),
    ...(hasRates ? kRateColumns : []),
    { label: "share", value: (row) => row.gpu_share_pct, text: (row) => known(row.gpu_share_pct, formatPercent), unit: "% of GPU work", width: 76, narrow: true },
    { label: "", value: (row) => row.total_ns, text: (row) => <Bar share={row.total_ns / largest} part={fill(row)} />, width: 110 },
  ];
}
