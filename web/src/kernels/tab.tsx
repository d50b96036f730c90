import { useMemo, useState } from "preact/hooks";
import { formatCount, formatDuration, formatPercent, formatPlural, known } from "../format";
import { Bar, Nothing, Panel } from "../panel";
import { isGpuWork, shownName, type Operation, type Part } from "../summary";
import type { TabProps } from "../tab";
import { DataTable, type Column } from "../table";
import { KernelDetails } from "./details";

const kTypes: Record<Part, string> = {
  gpu: "compute", comm: "communication", transfer: "copy", overhead: "overhead", cpu: "CPU", idle: "idle",
};
const typeOf = (row: Operation): string => (row.kind === "fill" ? "fill" : kTypes[row.part]);

export function KernelsTab({ summary }: TabProps) {
  const kernels = useMemo(() => summary.operations.filter((row) => isGpuWork(row.kind)), [summary]);
  const columns = useMemo(() => columnsOf(kernels), [kernels]);
  const [chosen, choose] = useState<Operation | null>(null);
  if (kernels.length === 0) return <Nothing>There is no GPU work in this run.</Nothing>;
  const calls = kernels.reduce((sum, row) => sum + row.calls, 0);
  return (
    <>
      <Panel title="Kernels, copies and fills" note={`${formatPlural(calls, "call", "calls")}; shares of all GPU work`} span={12}>
        <div class="choosable">
          <DataTable
            label={{ one: "kernel", many: "kernels" }} rows={kernels} columns={columns} name={(row) => row.name} sort={{ column: 3, down: true }}
            height={Math.max(300, innerHeight - (chosen ? 590 : 260))} chosen={chosen} choose={choose}
          />
        </div>
      </Panel>
      {chosen && <KernelDetails kernel={chosen} type={typeOf(chosen)} />}
    </>
  );
}

function columnsOf(kernels: Operation[]): Column<Operation>[] {
  const largest = kernels.reduce((most, row) => Math.max(most, row.total_ns), 1);
  const time = (label: string, value: (row: Operation) => number): Column<Operation> =>
    ({ label, value, text: (row) => formatDuration(value(row)), width: 82 });
  return [
    { label: "kernel", value: (row) => row.name, text: (row) => shownName(row) },
    { label: "type", left: true, value: typeOf, text: (row) => <span class="type"><i class={`fill ${row.part}`} />{typeOf(row)}</span>, width: 146 },
    { label: "calls", value: (row) => row.calls, text: (row) => formatCount(row.calls), width: 76 },
    { ...time("sum", (row) => row.total_ns), narrow: true },
    time("mean", (row) => row.mean_ns),
    time("min", (row) => row.min_ns),
    time("max", (row) => row.max_ns),
    time("p99", (row) => row.p99_ns),
    { label: "share", value: (row) => row.gpu_share_pct, text: (row) => known(row.gpu_share_pct, formatPercent), width: 76, narrow: true },
    { label: "", value: (row) => row.total_ns, text: (row) => <Bar share={row.total_ns / largest} part={row.part} />, width: 110 },
  ];
}
