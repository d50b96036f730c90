import { Fragment } from "preact";
import { useMemo, useState } from "preact/hooks";
import { kFills } from "../classes";
import { Choice } from "../flame/drawing";
import { formatCount, formatDuration, formatPercent } from "../format";
import { isGpuWork, kindWords, type ClassTime, type Part } from "../summary";
import { DataTable, type Column } from "../table";
import type { Timeline } from "./decode";
import { namesIn } from "./names";
import { sumUp, type GpuUse, type Range, type Sum, type Sums } from "./sums";

type By = "work" | "class" | "host" | "annotations" | "track";

const kWays: { id: By; title: string; hint: string; one: string; many: string }[] = [
  { id: "work", title: "GPU work", hint: "Kernels, copies and fills by name", one: "name", many: "names" },
  { id: "class", title: "By class", hint: "GPU work by class: GEMM, attention, elementwise, …", one: "class", many: "classes" },
  { id: "host", title: "Host", hint: "What the host did, by name", one: "name", many: "names" },
  { id: "annotations", title: "Annotations", hint: "Stretches that the program named", one: "name", many: "names" },
  { id: "track", title: "By track", hint: "What ran, by thread and stream", one: "track", many: "tracks" },
];

function rowsOf(sums: Sums, by: By): Sum[] {
  if (by === "class") return sums.classes;
  if (by === "track") return sums.tracks;
  const isNote = (kind: string) => kind === "annotation" || kind === "gpu_annotation";
  if (by === "annotations") return sums.names.filter(({ kind }) => isNote(kind));
  return sums.names.filter(({ kind }) => (by === "work" ? isGpuWork(kind) : !isGpuWork(kind) && !isNote(kind)));
}

interface Props {
  timeline: Timeline;
  range: Range;
  classes: ClassTime[];
  find: (name: string) => void;
  fit: () => void;
  close: () => void;
}

// What happened in the selected range: how long it is, what each GPU spent it on, and what ran.
export function Selection({ timeline, range, classes, find, fit, close }: Props) {
  const [asked, setBy] = useState<By>("work");
  const sums = useMemo(() => {
    const begin = performance.now();
    const found = sumUp(timeline, range);
    performance.measure("selection summed", { start: begin });
    return found;
  }, [timeline, range]);
  const duration = range.to - range.from;
  const ways = useMemo(() => kWays.map((way) => ({ ...way, rows: rowsOf(sums, way.id) })).filter(({ rows }) => rows.length > 0), [sums]);
  const way = ways.find(({ id }) => id === asked) ?? ways[0];
  const by = way?.id ?? asked;
  const columns = useMemo(() => columnsOf(by, way?.rows ?? [], classes, find, namesIn(timeline)), [way, classes]);
  const tracks = range.tracks ? ` on ${range.tracks.length === 1 ? timeline.tracks[range.tracks[0]!]!.name : `${range.tracks.length} tracks`}` : "";
  return (
    <section class="details selection" aria-label="Selected range">
      <div class="selection-head">
        <b>{formatDuration(duration)}</b>
        <span class="quiet">from {formatDuration(range.from)} to {formatDuration(range.to)}{tracks}</span>
        <Choice name="Sum up" items={ways} chosen={by} choose={setBy} />
        <span class="grow" />
        <button class="tool" onClick={fit} title="Fill the view with it: F">Zoom to it</button>
        <button class="tool" onClick={close} aria-label="Clear the range">✕</button>
      </div>
      {sums.gpus.length > 0 && <div class="gpu-uses">{sums.gpus.map((use) => <Use key={use.gpu} use={use} duration={duration} />)}</div>}
      {way ? (
        <DataTable
          key={by} label={way} rows={way.rows} columns={columns} name={(row) => (by === "class" ? labelOf(classes, row) : row.name)}
          sort={{ column: columns.findIndex(({ label }) => label === "self"), down: true }} height={300}
        />
      ) : <p class="quiet">Nothing ran in it.</p>}
    </section>
  );
}

const kUses: { key: "compute" | "communication" | "copies" | "idle"; part: Part }[] = [
  { key: "compute", part: "gpu" }, { key: "communication", part: "comm" }, { key: "copies", part: "transfer" }, { key: "idle", part: "idle" },
];

function Use({ use, duration }: { use: GpuUse; duration: number }) {
  const share = (ns: number) => (ns / duration) * 100;
  const words = kUses.filter(({ key }) => use[key] > 0).map(({ key }) => `${key} ${formatPercent(share(use[key]))}`).join(", ");
  return (
    <div class="gpu-use" title={words}>
      <span>{use.gpu}</span>
      <div class="bar" role="img" aria-label={`${use.gpu}: ${words}`}>
        {kUses.map(({ key, part }) => <i key={key} class={`fill ${part}`} style={{ width: `${share(use[key])}%` }} />)}
      </div>
      <span>
        {kUses.filter(({ key }) => key === "compute" || use[key] > 0).map(({ key }, at) => (
          <Fragment key={key}>
            {at > 0 && " · "}
            <span class="use-part">{at === 0 ? <b>{key} {formatDuration(use[key])}</b> : `${key} ${formatDuration(use[key])}`} ({formatPercent(share(use[key]))})</span>
          </Fragment>
        ))}
      </span>
    </div>
  );
}

const labelOf = (classes: ClassTime[], row: Sum): string => classes.find((one) => one.class === row.name)?.label ?? row.name;

function columnsOf(by: By, rows: Sum[], classes: ClassTime[], find: (name: string) => void, named: (label: number) => string): Column<Sum>[] {
  const whole = Math.max(1, rows.reduce((sum, row) => sum + row.self, 0)); // what the rows share
  const nameOf = (row: Sum) => (by === "class" ? labelOf(classes, row) : row.label < 0 ? row.name : named(row.label));
  const share = (row: Sum) => (row.self / whole) * 100;
  const figures: Column<Sum>[] = [
    { label: "count", value: (row) => row.count, text: (row) => formatCount(row.count), width: 80 },
    ...(by === "track" ? [] : [{ label: "total", value: (row: Sum) => row.total, text: (row: Sum) => formatDuration(row.total), unit: "ns", width: 92 }]),
    { label: "self", value: (row) => row.self, text: (row) => formatDuration(row.self), unit: "ns", width: 92, narrow: true },
    { label: "share", value: share, text: (row) => formatPercent(share(row)), unit: "% of self time", width: 84, narrow: true },
    ...(by === "track" ? [] : [{ label: "mean", value: (row: Sum) => row.total / row.count, text: (row: Sum) => formatDuration(row.total / row.count), unit: "ns", width: 92 }]),
  ];
  const square = (row: Sum) => <i class={`fill ${kFills[row.fill]!}`} />;
  if (by === "class" || by === "track") return [{ label: by, value: nameOf, text: (row) => <span class="type">{square(row)}{nameOf(row)}</span> }, ...figures];
  return [
    { label: "name", value: nameOf, text: (row) => <button class="plain" onClick={() => find(row.name)} title={`Find ${row.name}`}>{nameOf(row)}</button> },
    { label: "kind", left: true, value: (row) => row.kind, text: (row) => <span class="type">{square(row)}{kindWords(row.kind)}</span>, width: 128 },
    ...figures,
  ];
}
