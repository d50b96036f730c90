import { useEffect, useState } from "preact/hooks";
import { Cards } from "../cards";
import { formatBytes, formatCount } from "../format";
import { Nothing, Panel, type Width } from "../panel";
import type { DeviceMemory, MemorySeries, MemoryUse } from "../summary";
import type { TabProps } from "../tab";
import { DataTable, type Column } from "../table";
import { memoryOf, type MemoryBlock } from "./block";
import { MemoryChart } from "./chart";
import { History } from "./history";
import { placeOf } from "./words";

const kColumns: Column<MemoryUse>[] = [
  { label: "allocated by", value: placeOf, text: placeOf },
  { label: "blocks", value: (row) => row.blocks, text: (row) => formatCount(row.blocks), width: 80 },
  { label: "memory", value: (row) => row.bytes, text: (row) => formatBytes(row.bytes), unit: "bytes", width: 90, narrow: true },
];

export function MemoryTab({ source, summary }: TabProps) {
  const { memory } = summary;
  const [block, setBlock] = useState<MemoryBlock | null | undefined>(undefined);
  useEffect(() => {
    let current = true;
    void memoryOf(source).then((found) => { if (current) setBlock(found); });
    return () => { current = false; };
  }, [source]);
  if (!memory) {
    return <Nothing>This run has no memory events. PyTorch records them with profile_memory=True; fathom profile records them itself.</Nothing>;
  }
  if (block === undefined) return <p class="nothing" aria-busy="true">Reading the memory…</p>;
  return (
    <>
      {block && <section class="story"><h1>{block.headline}</h1><p>{block.detail}</p></section>}
      {memory.devices.map((device, index) => (
        <Device key={device.label} device={device} block={block} index={index} hasStory={block !== null && index === 0} isSmall={peakOf(device) < peakOf(memory.devices[0]!) * kSmall} />
      ))}
      {memory.host && <Host series={memory.host} peak={memory.host_peak_bytes} />}
    </>
  );
}

const kSmall = 0.001; // of what the story's device had: its figures are enough

const peakOf = ({ series }: DeviceMemory): number => Math.max(0, ...series[0]!.bytes);

// The first is what the story above is about.
function Device({ device, block, index, hasStory, isSmall }: { device: DeviceMemory; block: MemoryBlock | null; index: number; hasStory: boolean; isSmall: boolean }) {
  const history = block?.devices[index];
  // Where no block is known there is nothing to stack.
  const isKnown = history && history.blocks.bytes.length > 0;
  const end = Math.max(...device.series.map((line) => line.times_ns.at(-1) ?? 0));
  return (
    <>
      {!hasStory && <h2 class="device-name c12">{device.label}</h2>}
      <Cards cards={device.cards} label={`Memory of ${device.label}`} />
      {!isSmall && (isKnown ? <History block={block!} device={history} index={index} end={end} /> : <Levels device={device} />)}
    </>
  );
}

// What is known without blocks: levels, and who had what at the peak and at the end.
function Levels({ device }: { device: DeviceMemory }) {
  const before = (bytes: number) => (bytes > 0 ? `and ${formatBytes(bytes)} from before the recording` : "");
  const span = device.at_peak.length > 0 && device.leaks.length > 0 ? 6 : 12;
  return (
    <>
      <Panel title="Memory over time" span={12}><MemoryChart series={device.series} height={260} part={device.part} /></Panel>
      {device.at_peak.length > 0 && <Uses title="Alive at the peak" note={before(device.unknown_at_peak)} rows={device.at_peak} span={span} />}
      {device.leaks.length > 0 && <Uses title="Alive at the end" note={before(device.unknown_at_end) || "not freed while it was recorded"} rows={device.leaks} span={span} />}
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
