import { formatBytes, formatCount, formatDuration, formatPercent } from "../format";
import { Nothing, Panel } from "../panel";
import type { MemoryHolder, MemorySeries } from "../summary";
import type { TabProps } from "../tab";
import { DataTable, type Column } from "../table";
import { MemoryChart } from "./chart";

const kHolderColumns: Column<MemoryHolder>[] = [
  { label: "held by", value: (row) => row.name, text: (row) => row.name },
  { label: "blocks", value: (row) => row.blocks, text: (row) => formatCount(row.blocks), width: 90 },
  { label: "memory", value: (row) => row.bytes, text: (row) => formatBytes(row.bytes), width: 110 },
];

export function MemoryTab({ summary }: TabProps) {
  const { memory } = summary;
  if (!memory || memory.series.length === 0) {
    return <Nothing>This run has no memory events. PyTorch records them with profile_memory=True; fathom profile records them itself.</Nothing>;
  }
  return (
    <>
      <section class="cards" aria-label="Peaks">
        {memory.series.map((series) => <PeakCard key={series.label} series={series} />)}
      </section>
      <Panel title="Memory over time" span={12}><MemoryChart series={memory.series} height={300} /></Panel>
      {memory.holders.length > 0 && <Holders title="Alive at the peak" label="holders" rows={memory.holders} />}
      {memory.leaks.length > 0 && <Holders title="Never freed" label="leaks" rows={memory.leaks} />}
    </>
  );
}

function PeakCard({ series }: { series: MemorySeries }) {
  const share = series.capacity_bytes ? `, ${formatPercent((series.peak_bytes / series.capacity_bytes) * 100)} of ${formatBytes(series.capacity_bytes)}` : "";
  return (
    <div class="panel card">
      <span>{series.label}</span>
      <b>{formatBytes(series.peak_bytes)}</b>
      <small>peak at {formatDuration(series.peak_time_ns)}{share}</small>
    </div>
  );
}

function Holders(props: { title: string; label: string; rows: MemoryHolder[] }) {
  return (
    <Panel title={props.title} span={6}>
      <DataTable label={props.label} rows={props.rows} columns={kHolderColumns} name={(row) => row.name} sort={{ column: 2, down: true }} height={400} />
    </Panel>
  );
}
