import { useMemo, useState } from "preact/hooks";
import { useAsked } from "../address";
import { Choice } from "../flame/drawing";
import { formatBytes, formatCount, formatDuration, formatPercent, known } from "../format";
import { Panel } from "../panel";
import { SavePanelButton } from "../save";
import { DataTable, type Column } from "../table";
import { aliveAt, levelAt, momentAt, type AliveRow, type DeviceHistory, type MemoryBlock, type Unused } from "./block";
import "./memory.css";
import { layersOf, StackedChart, type By } from "./stacked";
import { placeOf } from "./words";

const kBy: { id: By; title: string; hint: string }[] = [
  { id: "line", title: "By line", hint: "Who allocated it" },
  { id: "role", title: "By purpose", hint: "Weights, optimizer state, gradients, activations" },
];

// Who had how much over time, and what was alive at the moment that is chosen: the peak, to begin with.
// Both are in the address, of each device its own: #memory?by=role&moment=12.
export function History({ block, device, index, end }: { block: MemoryBlock; device: DeviceHistory; index: number; end: number }) {
  const [asked, ask] = useAsked("memory");
  const field = (name: string) => (index === 0 ? name : `${name}_${index}`);
  const by: By = asked.get(field("by")) === "role" && device.of_roles.length > 0 ? "role" : "line";
  const setBy = (id: By) => ask({ [field("by")]: id === "line" ? null : id });
  const last = device.times_ns.length - 1;
  const named = asked.get(field("moment"));
  const moment = named !== null && /^\d+$/.test(named) ? Math.min(Number(named), last) : device.peak;
  const setMoment = (to: number) => ask({ [field("moment")]: to === device.peak ? null : String(to) });
  const layers = useMemo(() => layersOf(device, by), [device, by]);
  const at = device.times_ns[moment]!;
  const when = moment === device.peak ? "at the peak" : moment === last ? "at the end" : `at ${formatDuration(at)}`;
  return (
    <>
      <Panel title="Memory over time" note="by who allocated it; click a moment to see what was alive then" span={12}>
        <div class="filters">
          {device.of_roles.length > 0 && <Choice name="Stacked by" items={kBy} chosen={by} choose={setBy} />}
          <span role="group" aria-label="Moment">
            <button class="tool" aria-pressed={moment === device.peak} onClick={() => setMoment(device.peak)}>Peak</button>
            <button class="tool" aria-pressed={moment === last} onClick={() => setMoment(last)}>End</button>
          </span>
          <input
            type="range" class="moment" aria-label="Moment" min={0} max={last} value={moment} aria-valuetext={`${formatDuration(at)}: ${formatBytes(levelAt(device, moment))}`}
            onInput={(event) => setMoment(Number(event.currentTarget.value))}
          />
          <span class="quiet" role="status">{formatDuration(at)}: {formatBytes(levelAt(device, moment))} allocated</span>
        </div>
        <StackedChart device={device} layers={layers} end={end} moment={moment} choose={(ns) => setMoment(momentAt(device.times_ns, ns))} />
        <div class="legend">
          {layers.map((layer) => (
            <span key={layer.label} title={layer.label}>
              <i style={{ background: `var(--${layer.token})`, opacity: layer.opacity }} />
              {layer.label} {known(layer.bytes[moment] ?? null, formatBytes)}
            </span>
          ))}
        </div>
        {device.hint && <p class="said">{device.hint}</p>}
      </Panel>
      <Alive block={block} device={device} moment={moment} when={when} />
      <UnusedPanel device={device} />
      <Failures block={block} device={device} />
    </>
  );
}

function Alive({ block, device, moment, when }: { block: MemoryBlock; device: DeviceHistory; moment: number; when: string }) {
  const rows = useMemo(() => aliveAt(device, moment, block.role_names), [device, moment]);
  const [chosenPlace, choose] = useState<string | null>(null);
  const chosen = rows.find((row) => placeOf(row.owner) === chosenPlace) ?? null;
  const columns = useMemo(() => columnsOf(levelAt(device, moment), device.of_roles.length > 0), [device, moment]);
  const left = device.left_out_blocks > 0 ? ` · without the ${formatCount(device.left_out_blocks)} smallest blocks of the recording` : "";
  return (
    <>
      <Panel title={`Alive ${when}`} note={`${formatBytes(levelAt(device, moment))}${left}; choose a line for its stacks`} span={12}>
        <div class="choosable">
          <DataTable
            label={{ one: "place", many: "places" }} rows={rows} columns={columns} name={(row) => placeOf(row.owner)} sort={{ column: columns.length - 2, down: true }}
            height={400} chosen={chosen} choose={(row) => choose(row === chosen ? null : placeOf(row.owner))} isLive
          />
        </div>
      </Panel>
      {chosen && <Stacks block={block} row={chosen} />}
    </>
  );
}

const columnsOf = (level: number, hasRoles: boolean): Column<AliveRow>[] => {
  const share = (row: AliveRow) => (row.bytes / Math.max(1, level)) * 100;
  return [
    { label: "allocated by", value: (row) => placeOf(row.owner), text: (row) => placeOf(row.owner) },
    ...(hasRoles ? [{ label: "for", left: true, value: (row: AliveRow) => row.roles.join(", "), text: (row: AliveRow) => row.roles.join(", ") || "–", width: 220 }] : []),
    { label: "blocks", value: (row) => row.blocks, text: (row) => known(row.blocks, formatCount), width: 80 },
    { label: "memory", value: (row) => row.bytes, text: (row) => formatBytes(row.bytes), unit: "bytes", width: 100, narrow: true },
    { label: "share", value: share, text: (row) => formatPercent(share(row)), unit: "% of what is allocated", width: 80 },
  ];
};

const kMostStacks = 5;

function Stacks({ block, row }: { block: MemoryBlock; row: AliveRow }) {
  const known = row.stacks.filter(({ stack }) => stack !== 0);
  return (
    <Panel title="Stacks" note={placeOf(row.owner)} span={12}>
      {known.length === 0 && <p class="quiet">No stacks were recorded for it.</p>}
      <div class="stacks">
        {known.slice(0, kMostStacks).map(({ stack, blocks, bytes }) => (
          <div key={stack}>
            <h3>{formatBytes(bytes)} in {formatCount(blocks)} {blocks === 1 ? "block" : "blocks"}</h3>
            <Frames block={block} stack={stack} />
          </div>
        ))}
      </div>
      {known.length > kMostStacks && <p class="quiet">… {formatCount(known.length - kMostStacks)} more stacks with less</p>}
    </Panel>
  );
}

const Frames = ({ block, stack }: { block: MemoryBlock; stack: number }) => (
  <ol class="frames">
    {(block.stacks[stack] ?? []).map((frame, at) => <li key={at}>{block.frames[frame]}</li>)}
  </ol>
);

function UnusedPanel({ device }: { device: DeviceHistory }) {
  const all = [device.unused_at_peak, device.unused_at_end].filter((each) => each !== null);
  if (all.length === 0) return null;
  return (
    <Panel title="Reserved against allocated" note="what the allocator took from the device, and what of it blocks use" span={12}>
      <SavePanelButton what="reserved memory" />
      {all.map((each) => <UnusedBar key={each.label} of={each} />)}
      {device.notes.map((note) => <p key={note} class="said">{note}</p>)}
    </Panel>
  );
}

function UnusedBar({ of }: { of: Unused }) {
  const used = of.reserved - of.free_segment_bytes - of.hole_bytes;
  const parts: [string, string, number][] = [["used", "in blocks", used], ["hole", "in holes", of.hole_bytes], ["free", "in free segments", of.free_segment_bytes]];
  return (
    <div class="reserved">
      <span>{of.label}</span>
      <div class="reserved-bar" role="img" aria-label={`${formatBytes(of.reserved)} reserved ${of.label}: ${parts.map(([, label, bytes]) => `${formatBytes(bytes)} ${label}`).join(", ")}`}>
        {parts.map(([name, label, bytes]) => <i key={name} class={name} title={`${label}: ${formatBytes(bytes)}`} style={{ width: `${(bytes / Math.max(1, of.reserved)) * 100}%` }} />)}
      </div>
      <b>{formatBytes(of.reserved)}</b>
    </div>
  );
}

function Failures({ block, device }: { block: MemoryBlock; device: DeviceHistory }) {
  if (device.failures.length === 0) return null;
  return (
    <Panel title="Out of memory" note="allocations that failed" span={12}>
      {device.failures.map((failure) => (
        <details key={failure.time_ns} class="failure">
          <summary>
            {formatDuration(failure.time_ns)}: {formatBytes(failure.bytes)} asked for{failure.device_free !== null && `, ${formatBytes(failure.device_free)} free`}
            {failure.call && <> · <code>{failure.call}</code></>}
          </summary>
          <Frames block={block} stack={failure.stack} />
        </details>
      ))}
    </Panel>
  );
}
