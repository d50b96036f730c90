import { useMemo, useState } from "preact/hooks";
import { ClassFilter } from "../class_filter";
import { fillOfClass, type Fill } from "../classes";
import { formatCount, formatDuration, formatPercent, formatPlural, known } from "../format";
import { Bar, Nothing, Panel } from "../panel";
import { isGpuWork, shownName, type ClassTime, type Operation, type Part } from "../summary";
import type { TabProps } from "../tab";
import { DataTable, type Column } from "../table";
import { KernelDetails } from "./details";
import { achievedText, ofPeakText } from "./rates";
import { EfficiencyPanel } from "./roofline";

const kTypes: Record<Part, string> = {
  gpu: "compute", comm: "communication", transfer: "copy", overhead: "overhead", cpu: "CPU", idle: "idle",
};
const typeOf = (row: Operation): string => (row.kind === "fill" ? "fill" : kTypes[row.part]);

export function KernelsTab({ summary }: TabProps) {
  const { classes } = summary;
  const all = useMemo(() => summary.operations.filter((row) => isGpuWork(row.kind)), [summary]);
  const [ofClass, setClass] = useState(askedClass(classes));
  const kernels = useMemo(() => (ofClass ? all.filter((row) => row.class === ofClass) : all), [all, ofClass]);
  const columns = useMemo(() => columnsOf(all, classes), [all]);
  const [chosen, choose] = useState<Operation | null>(null);
  if (all.length === 0) return <Nothing>There is no GPU work in this run.</Nothing>;
  const calls = kernels.reduce((sum, row) => sum + row.calls, 0);
  return (
    <>
      <Panel title="Kernels, copies and fills" note={`${formatPlural(calls, "call", "calls")}; shares of all GPU work`} span={12}>
        <div class="choosable">
          <DataTable
            label={{ one: "kernel", many: "kernels" }} rows={kernels} columns={columns} name={(row) => row.name} sort={{ column: 3, down: true }}
            filter={classes.length > 0 && <ClassFilter classes={classes} chosen={ofClass} choose={setClass} />}
            height={Math.max(300, innerHeight - (chosen ? 590 : 260))} chosen={chosen} choose={choose}
          />
        </div>
      </Panel>
      {chosen && <KernelDetails kernel={chosen} type={typeWords(chosen, classes)} />}
      <EfficiencyPanel efficiency={summary.efficiency} ofClass={ofClass} />
    </>
  );
}

// A link may ask for one: #kernels?class=gemm.
function askedClass(classes: ClassTime[]): string {
  const asked = new URLSearchParams(location.hash.split("?")[1] ?? "").get("class");
  return classes.find((row) => row.class === asked)?.class ?? "";
}

// The class where the run has any, else the type.
const typeWords = (row: Operation, classes: ClassTime[]): string =>
  classes.find((known) => known.class === row.class)?.label ?? typeOf(row);

const kRateColumns: Column<Operation>[] = [
  { label: "achieved", value: (row) => row.efficiency_pct, text: achievedText, width: 112 },
  { label: "of peak", value: (row) => row.efficiency_pct, text: ofPeakText, width: 98 },
];

function columnsOf(kernels: Operation[], classes: ClassTime[]): Column<Operation>[] {
  const hasClasses = classes.length > 0;
  const hasRates = kernels.some((row) => row.tflops !== null);
  const fill = (row: Operation): Fill => (hasClasses && row.class ? fillOfClass(row.class) : row.part);
  const words = (row: Operation) => typeWords(row, classes);
  const largest = kernels.reduce((most, row) => Math.max(most, row.total_ns), 1);
  const time = (label: string, value: (row: Operation) => number): Column<Operation> =>
    ({ label, value, text: (row) => formatDuration(value(row)), width: 82 });
  return [
    { label: "kernel", value: (row) => row.name, text: (row) => shownName(row) },
    { label: hasClasses ? "class" : "type", left: true, value: words, text: (row) => <span class="type"><i class={`fill ${fill(row)}`} />{words(row)}</span>, width: hasClasses ? 158 : 146 },
    { label: "calls", value: (row) => row.calls, text: (row) => formatCount(row.calls), width: 76 },
    { ...time("sum", (row) => row.total_ns), narrow: true },
    time("mean", (row) => row.mean_ns),
    ...(hasRates ? [] : [time("min", (row) => row.min_ns), time("max", (row) => row.max_ns)]),
    time("p99", (row) => row.p99_ns),
    ...(hasRates ? kRateColumns : []),
    { label: "share", value: (row) => row.gpu_share_pct, text: (row) => known(row.gpu_share_pct, formatPercent), width: 76, narrow: true },
    { label: "", value: (row) => row.total_ns, text: (row) => <Bar share={row.total_ns / largest} part={fill(row)} />, width: 110 },
  ];
}
