import { Panel } from "../panel";
import type { TabProps } from "../tab";
import { MemoryChart } from "../memory/chart";
import { Bottlenecks } from "./bottlenecks";
import { OperationTable } from "./operation_table";
import { RingPanel } from "./ring";
import { ScopeTable } from "./scope_table";
import { SlicesPanel } from "./slices";
import { StoryView } from "./story";
import { TopOperations } from "./top_operations";

export function OverviewTab({ summary }: TabProps) {
  const { ring, slices, memory, bottlenecks, operations, scopes } = summary;
  return (
    <>
      <StoryView summary={summary} />
      {ring && <RingPanel ring={ring} />}
      {slices && <SlicesPanel slices={slices} span={ring ? 8 : 12} />}
      <TopOperations summary={summary} span={bottlenecks.length > 0 ? 8 : 12} />
      {bottlenecks.length > 0 && <Bottlenecks list={bottlenecks} />}
      {memory && memory.series.length > 0 && (
        <Panel title="Memory over time" span={12}><MemoryChart series={memory.series} height={170} /></Panel>
      )}
      {scopes.length > 0 && <ScopeTable scopes={scopes} />}
      {operations.length > 0 && <OperationTable operations={operations} />}
    </>
  );
}
