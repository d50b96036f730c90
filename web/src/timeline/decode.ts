import { fillIndex, partIndex } from "../canvas/palette";
import { Rows } from "../canvas/rows";
import { fillOfClass } from "../classes";
import { isGpuWork } from "../summary";

// The timeline as src/report/page/timeline.h describes it, in columns. Times are ns from the first start.

export interface Track {
  name: string;
  shortName: string; // where there is little room
  process: string;
  gpu: boolean;
  firstRow: number;
  rows: number;
}

export interface Counter {
  name: string;
  unit: string;
  times_ns: number[];
  values: number[];
}

export interface Instant {
  track: Track;
  name: string;
  at: number;
}

export interface Timeline {
  beginNs: number; // on the source's clock
  lengthNs: number;
  rows: Rows;
  tracks: Track[];
  counters: Counter[];
  names: string[]; // by label
  kinds: string[];
  parts: Uint8Array; // their colours, as indices of kFills: by part of the time
  classFills: Uint8Array; // and by class of GPU work; as in `parts` for all else
  classes: string[]; // of GPU work; else empty
  instants: Instant[]; // by time
  links: { from: number; to: number }[]; // arrows other than from a launch, by where they begin
  launch: Int32Array; // of each span: the span that launched it, or -1
  steps: number[]; // spans that are numbered steps, by start
}

interface Head {
  begin_ns: number;
  spans: number;
  labels: [string, string, string, string][]; // name, kind, part, class
  steps: number[];
  tracks: { name: string; short_name: string; process: string; gpu: boolean; rows: number[] }[];
  counters: Counter[];
  instants: [number, string, number][];
}

class Bytes {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  get left(): boolean {
    return this.at < this.bytes.length;
  }

  number(): number {
    let byte = this.bytes[this.at++]!;
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80 && shift < 28; shift += 7) {
      byte = this.bytes[this.at++]!;
      value |= (byte & 0x7f) << shift;
    }
    for (let unit = 2 ** 28; byte >= 0x80; unit *= 0x80) { // past what bits can be shifted in
      byte = this.bytes[this.at++]!;
      value += (byte & 0x7f) * unit;
    }
    return value;
  }
  signed(): number {
    const value = this.number();
    if (value < 2 ** 28) return (value >>> 1) ^ -(value & 1);
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

// The blocks of a buffer, each with its length before it.
function blocksOf(buffer: ArrayBuffer): Uint8Array[] {
  const view = new DataView(buffer);
  const blocks: Uint8Array[] = [];
  for (let at = 0; at + 4 <= buffer.byteLength; ) {
    const length = view.getUint32(at, true);
    blocks.push(new Uint8Array(buffer, at + 4, length));
    at += 4 + length;
  }
  return blocks;
}

export function decodeTimeline(buffer: ArrayBuffer): Timeline {
  const [headBytes, gapBytes, durationBytes, labelBytes, launchBytes, linkBytes] = blocksOf(buffer) as
    [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const head = JSON.parse(new TextDecoder().decode(headBytes)) as Head;
  const [gaps, durations, labels, launches] = [gapBytes, durationBytes, labelBytes, launchBytes].map((b) => new Bytes(b)) as
    [Bytes, Bytes, Bytes, Bytes];
  const work = head.labels.map(([, kind]) => isGpuWork(kind));
  const counts = head.tracks.flatMap((track) => track.rows);
  const first = new Uint32Array(counts.length + 1);
  const start = new Float64Array(head.spans);
  const length = new Float64Array(head.spans);
  const label = new Uint32Array(head.spans);
  const launch = new Int32Array(head.spans).fill(-1);
  let lastLaunch = 0;
  let lengthNs = 0;
  let at = 0;
  counts.forEach((count, row) => {
    let end = 0;
    for (const stop = at + count; at < stop; ++at) {
      start[at] = end + gaps.signed();
      length[at] = durations.number();
      label[at] = labels.number();
      end = start[at]! + length[at]!;
      if (end > lengthNs) lengthNs = end;
      if (!work[label[at]!] || launches.number() === 0) continue;
      lastLaunch += launches.signed();
      launch[at] = lastLaunch - 1;
    }
    first[row + 1] = at;
  });
  // Without spans, as of `fathom monitor --record`, it is as long as its counters.
  if (head.spans === 0) lengthNs = Math.max(0, ...head.counters.map((counter) => counter.times_ns.at(-1) ?? 0));
  let firstRow = 0;
  const tracks = head.tracks.map((track) => {
    const placed = { name: track.name, shortName: track.short_name, process: track.process, gpu: track.gpu, firstRow, rows: track.rows.length };
    firstRow += track.rows.length;
    return placed;
  });
  const rows = new Rows(start, length, label, first);
  return {
    beginNs: head.begin_ns, lengthNs, rows, tracks, counters: head.counters,
    names: head.labels.map(([name]) => name || "(no name)"),
    kinds: head.labels.map(([, kind]) => kind),
    parts: Uint8Array.from(head.labels, ([, , part]) => partIndex(part)),
    classFills: Uint8Array.from(head.labels, ([, , part, name]) => (name ? fillIndex(fillOfClass(name)) : partIndex(part))),
    classes: head.labels.map(([, , , name]) => name),
    launch,
    links: linksIn(new Bytes(linkBytes)),
    instants: head.instants.map(([track, name, at]) => ({ track: tracks[track]!, name: name || "(no name)", at })).sort((a, b) => a.at - b.at),
    steps: head.steps,
  };
}

function linksIn(bytes: Bytes): Timeline["links"] {
  const links: Timeline["links"] = [];
  let [from, to] = [0, 0];
  while (bytes.left) {
    from += bytes.signed();
    to += bytes.signed();
    links.push({ from, to });
  }
  return links;
}
