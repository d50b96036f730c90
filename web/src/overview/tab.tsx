import type { ComponentChildren } from "preact";
import { MemoryChart } from "../memory/chart";
import { Panel, type Width } from "../panel";
import { RankChart } from "../ranks/chart";
import { useEffect, useRef } from "preact/hooks";
import { useAsked } from "../address";
import { CallList } from "../calls/list";
import { namesOf, type Summary } from "../summary";
import type { TabProps } from "../tab";
import { AdvicePanel } from "./advice";
import { Bottlenecks } from "./bottlenecks";
import { CallsChart } from "./calls_chart";
import { ClassesPanel } from "./classes";
import { OperationTable } from "./operation_table";
import { RingPanel } from "./ring";
import { ScopeTable } from "./scope_table";
import { SlicesPanel } from "./slices";
import { StoryView } from "./story";
import { hasTop, TopOperations } from "./top_operations";

// What is chosen in a table is in the address: #overview?operation=aten::mm&kind=cpu_op.
export function OverviewTab({ source, summary }: TabProps) {
  const [first, ...others] = rows(charts(summary), findings(summary));
  const [asked, ask] = useAsked("overview");
  const { name, kind } = { name: asked.get("operation"), kind: asked.get("kind") };
  const operation = summary.operations.find((row) => row.name === name && row.kind === kind) ?? null;
  const scope = kind === "scope" ? summary.scopes.find((row) => row.name === name) ?? null : null;
  const choose = (row: { name: string; kind: string }) =>
    ask(row.name === name && row.kind === kind ? { operation: null, kind: null } : { operation: row.name, kind: row.kind });
  const calls = useRef<HTMLDivElement>(null);
  useEffect(() => { if (operation ?? scope) calls.current?.scrollIntoView({ block: "nearest" }); }, [name, kind]);
  return (
    <>
      <StoryView summary={summary} />
      {first}
      {summary.classes.length > 0 && <ClassesPanel summary={summary} span={12} />}
      {others}
      {summary.scopes.length > 0 && <ScopeTable scopes={summary.scopes} chosen={scope} choose={(row) => choose({ name: row.name, kind: "scope" })} />}
      {summary.operations.length > 0 && <OperationTable operations={summary.operations} shown={namesOf(summary)} chosen={operation} choose={choose} />}
      {(operation ?? scope) && <div ref={calls} class="c12"><CallList source={source} name={name!} kind={kind!} what={{ one: "call", many: "calls" }} /></div>}
    </>
  );
}

type Section = (span: Width) => ComponentChildren;

// What there is to see, widest first; and what to say beside it.
function charts(summary: Summary): Section[] {
  const { slices, memory, ranks } = summary;
  const all: Section[] = [];
  if (slices) all.push((span) => <SlicesPanel key="slices" slices={slices} span={span} />);
  if (!slices && ranks.length > 0) {
    all.push((span) => <Panel key="ranks" title="How each rank spent its time" span={span} to="ranks"><RankChart ranks={ranks} /></Panel>);
  }
  if (hasTop(summary)) all.push((span) => <TopOperations key="top" summary={summary} span={span} />);
  if (summary.scopes.length > 0 && summary.operations.length === 0) all.push((span) => <CallsChart key="calls" scopes={summary.scopes} span={span} />);
  const device = memory?.devices[0];
  const held = device?.series ?? (memory?.host ? [memory.host] : []);
  if (held.length > 0) {
    all.push((span) => (
      <Panel key="memory" title="Memory over time" note={device?.label ?? "host"} span={span} to="memory">
        <MemoryChart series={held} height={210} part={device?.part ?? "cpu"} />
      </Panel>
    ));
  }
  return all;
}

function findings(summary: Summary): Section[] {
  const { ring, advice, bottlenecks } = summary;
  const all: Section[] = [];
  if (ring) all.push((span) => <RingPanel key="ring" ring={ring} span={span} />);
  if (advice.findings.length > 0) all.push((span) => <AdvicePanel key="advice" advice={advice} span={span} />);
  if (bottlenecks.length > 0) all.push((span) => <Bottlenecks key="bottlenecks" list={bottlenecks} shown={namesOf(summary)} span={span} />);
  return all;
}

// One of each side by side; what has nobody beside it has the row to itself. The ring, which comes
// first, stands left; what explains a chart stands right of it.
function rows(wide: Section[], narrow: Section[]): ComponentChildren[] {
  const count = Math.max(wide.length, narrow.length);
  return Array.from({ length: count }, (_, index) => {
    const left = wide[index];
    const right = narrow[index];
    if (left && right) return index === 0 ? [right(4), left(8)] : [left(8), right(4)];
    return (left ?? right)?.(12);
  });
}
