import { useEffect, useMemo, useRef } from "preact/hooks";
import { useAsked } from "../address";
import { CallList } from "../calls/list";
import { ClassFilter } from "../class_filter";
import { Choice } from "../flame/drawing";
import { formatPlural } from "../format";
import { Nothing, Panel } from "../panel";
import { isGpuWork, namesOf, type Operation, type OperatorTime } from "../summary";
import type { TabProps } from "../tab";
import { DataTable } from "../table";
import { columnsOf, fillOf, typeWords } from "./columns";
import { KernelDetails } from "./details";
import { ClassGroups, OperatorGroups } from "./groups";
import { EfficiencyPanel } from "./roofline";

type Grouping = "kernel" | "class" | "operator";
const kGroupings: { id: Grouping; title: string; hint: string }[] = [
  { id: "kernel", title: "By name", hint: "A row per kernel" },
  { id: "class", title: "By class", hint: "GEMM, attention, elementwise, …" },
  { id: "operator", title: "By operator", hint: "By the operator of the framework that launched it" },
];

// What is seen is in the address: #kernels?class=gemm, ?operator=aten::mm, ?kernel=NAME, ?by=class.
export function KernelsTab({ source, summary }: TabProps) {
  const { classes, operators } = summary;
  const [asked, ask] = useAsked("kernels");
  const all = useMemo(() => summary.operations.filter((row) => isGpuWork(row.kind)), [summary]);
  const ofClass = classes.find((row) => row.class === asked.get("class"))?.class ?? "";
  const ofOperator = operators.list.find((row) => row.name === asked.get("operator")) ?? null;
  const kernels = useMemo(() => filtered(all, ofClass, ofOperator, operators.kernels), [all, ofClass, ofOperator]);
  const columns = useMemo(() => columnsOf(all, classes, namesOf(summary)), [summary]);
  const chosen = all.find((row) => row.name === asked.get("kernel")) ?? null;
  const details = useRef<HTMLDivElement>(null);
  useEffect(() => { if (chosen) details.current?.scrollIntoView({ block: "nearest" }); }, []); // a link leads to what it names
  if (all.length === 0) return <Nothing>There is no GPU work in this run.</Nothing>;

  const groupings = kGroupings.filter(({ id }) => id === "kernel" || (id === "class" ? classes : operators.list).length > 0);
  const by = groupings.find(({ id }) => id === asked.get("by"))?.id ?? "kernel";
  const calls = kernels.reduce((sum, row) => sum + row.calls, 0);
  const show = (changes: Record<string, string | null>) => ask({ by: null, class: null, operator: null, kernel: null, ...changes });
  return (
    <>
      <Panel title="Kernels, copies and fills" note={by === "kernel" ? `${formatPlural(calls, "call", "calls")}; shares of all GPU work` : "shares of all GPU work"} span={12}>
        {groupings.length > 1 && <div class="choices"><Choice name="Rows" items={groupings} chosen={by} choose={(id) => ask({ by: id === "kernel" ? null : id })} /></div>}
        {by === "class" && <ClassGroups summary={summary} choose={(row) => show({ class: row.class })} />}
        {by === "operator" && <OperatorGroups operators={operators.list} choose={(row) => show({ operator: row.name })} />}
        {by === "kernel" && (
          <div class="choosable">
            <DataTable
              label={{ one: "kernel", many: "kernels" }} rows={kernels} columns={columns} name={(row) => row.name} sort={{ column: 3, down: true }}
              filter={
                <>
                  {classes.length > 0 && <ClassFilter classes={classes} chosen={ofClass} choose={(name) => ask({ class: name })} />}
                  {ofOperator && <button type="button" class="tool chip" onClick={() => ask({ operator: null })}>{operatorText(ofOperator)} ✕</button>}
                </>
              }
              height={Math.max(300, innerHeight - (chosen ? 590 : 280))} chosen={chosen} choose={(row) => ask({ kernel: row === chosen ? null : row.name })}
            />
          </div>
        )}
      </Panel>
      {chosen && (
        <div ref={details} class="chosen-kernel">
          <KernelDetails kernel={chosen} type={typeWords(chosen, classes)} fill={fillOf(chosen, classes)} operators={launchersOf(chosen, summary.operators)} choose={(row) => show({ operator: row.name, kernel: chosen.name })} />
          <CallList source={source} name={chosen.name} kind={chosen.kind} what={{ one: "launch", many: "launches" }} />
        </div>
      )}
      <EfficiencyPanel efficiency={summary.efficiency} ofClass={ofClass} />
    </>
  );
}

export const operatorText = (row: OperatorTime): string => row.name || "no operator known";

function filtered(all: Operation[], ofClass: string, ofOperator: OperatorTime | null, names: string[]): Operation[] {
  const launched = ofOperator && new Set(ofOperator.kernels.map((index) => names[index]));
  return all.filter((row) => (!ofClass || row.class === ofClass) && (!launched || launched.has(row.name)));
}

// The operators that launch a kernel, most GPU time first.
function launchersOf(kernel: Operation, { kernels, list }: { kernels: string[]; list: OperatorTime[] }): OperatorTime[] {
  const index = kernels.indexOf(kernel.name);
  return list.filter((row) => row.name !== "" && row.kernels.includes(index));
}
