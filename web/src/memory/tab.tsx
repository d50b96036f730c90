import { Cards } from "../cards";
import { formatBytes, formatCount } from "../format";
import { Nothing, Panel, type Width } from "../panel";
import type { DeviceMemory, MemorySeries, MemoryUse } from "../summary";
import type { TabProps } from "../tab";
import { DataTable, type Column } from "../table";
import { MemoryChart } from "./chart";

const placeOf = (use: MemoryUse): string => [use.scope, use.call].filter(Boolean).join(" · ") || "(nothing recorded around it)";

const kColumns: Column<MemoryUse>[] = [
  { label: "allocated in", value: placeOf, text: placeOf },
  { label: "blocks", value: (row) => row.blocks, text: (row) => formatCount(row.blocks), width: 80 },
  { label: "memory", value: (row) => row.bytes, text: (row) => formatBytes(row.bytes), unit: "bytes", width: 90, narrow: true },
];

export function MemoryTab({ summary }: TabProps) {
  const { memory } = summary;
  if (!memory) {
    return <Nothing>This run has no memory events. PyTorch records them with profile_memory=True; fathom profile records them itself.</Nothing>;
  }
  return (
    <>
      {memory.devices.map((device) => <Device key={device.label} device={device} />)}
      {memory.host && <Host series={memory.host} peak={memory.host_peak_bytes} />}
    </>
  );
}

function Device({ device }: { device: DeviceMemory }) {
  const unknown = device.unknown_at_peak > 0 ? `and ${formatBytes(device.unknown_at_peak)} from before the recording` : "";
  const span = device.at_peak.length > 0 && device.leaks.length > 0 ? 6 : 12;
  return (
    <>
      <section class="story"><h1>{device.label}</h1></section>
      <Cards cards={device.cards} label={`Memory of ${device.label}`} />
      <Panel title="Memory over time" span={12}><MemoryChart series={device.series} height={260} part={device.part} /></Panel>
      {device.at_peak.length > 0 && <Uses title="Alive at the peak" note={unknown} rows={device.at_peak} span={span} />}
      {device.leaks.length > 0 && <Uses title="Alive at the end" note="not freed while it was recorded" rows={device.leaks} span={span} />}
    </>
  );
}

// Samples miss what lies between them; the kernel counts it.
function Host({ series, peak }: { series: MemorySeries; peak: number | null }) {
  const sampled = Math.max(...series.bytes);
  const note = peak !== null && peak > sampled ? `${formatBytes(peak)} at the most, between samples` : "";
  return <Panel title="Host" note={note} span={12}><MemoryChart series={[series]} height={180} /></Panel>;
}

function Uses(props: { title: string; note: string; rows: MemoryUse[]; span: Width }) {
  return (
    <Panel title={props.title} note={props.note} span={props.span}>
      <DataTable label={{ one: "place", many: "places" }} rows={props.rows} columns={kColumns} name={placeOf} sort={{ column: 2, down: true }} height={360} />
    </Panel>
  );
}
