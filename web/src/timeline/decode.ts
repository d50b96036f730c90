import { Rows } from "../canvas/rows";
import { fillIndex, fillOfClass, kParts, partIndex } from "../classes";
import { isGpuWork } from "../summary";
import { columnsOf, type Bytes } from "./bytes";

// The timeline as src/report/page/timeline.h describes it, in columns. Times are ns from the first start.

export interface Track {
  name: string;
  shortName: string; // where there is little room
  process: string;
  rank: string; // in short, of a job: "r3"; else empty
  gpu: string | null; // that a stream belongs to: "GPU 0"
  shortGpu: string | null;
  annotations: boolean; // the lane of what the user calls the time
  frames: number; // rows, of the first ones, with one span each around nearly everything
  quiet: boolean; // a thread that does next to nothing
  firstRow: number;
  rows: number;
}

export interface Counter {
  name: string;
  shortName: string; // what of, rather than whose
  unit: string;
  times_ns: number[];
  values: number[]; // each holds until the next time; means, where there are low and high
  low?: number[];
  high?: number[];
}

export interface Instant {
  track: Track;
  name: string;
  at: number;
}

// One trace of the page: all there is, or one rank of a job.
export interface Part {
  label: string; // "rank 3"; empty of the only one
  shortLabel: string;
  suffix: string; // of the names of its blocks
  clock: string; // how it is known when it began: src/report/page/rank_timelines.h
  startNs: number;
  firstSpan: number;
  leastHostNs: number; // shorter work of the host was left out; 0: none was
}

export interface Timeline {
  lengthNs: number;
  parts: Part[];
  rows: Rows;
  tracks: Track[];
  counters: Counter[];
  names: string[]; // by label
  kinds: string[];
  fills: Uint8Array; // their colours, as indices of kFills: by part of the time
  classFills: Uint8Array; // and by class of GPU work; as in `fills` for all else
  classes: string[]; // of GPU work; else empty
  instants: Instant[]; // by time
  links: { from: number; to: number }[]; // arrows other than from a launch, by where they begin
  launch: Int32Array; // of each span: the span that launched it, or -1
  steps: number[]; // spans that are numbered steps, by start
}

interface Head {
  length_ns: number;
  least_host_ns: number;
  spans: number;
  labels: [string, string, string, string][]; // name, kind, part, class
  steps: number[];
  tracks: {
    name: string; short_name: string; process: string; gpu: string | null; annotations: boolean; frames: number; quiet: boolean; rows: number[];
  }[];
  counters: (Omit<Counter, "shortName"> & { short_name: string })[];
  instants: [number, string, number][];
}

export function decodeTimeline(buffer: ArrayBuffer): Timeline {
  const [found, gaps, durations, labels, launches, links] = columnsOf(buffer) as [Head, Bytes, Bytes, Bytes, Bytes, Bytes];
  const head = found;
  const work = head.labels.map(([, kind]) => isGpuWork(kind));
  const counts = head.tracks.flatMap((track) => track.rows);
  const first = new Uint32Array(counts.length + 1);
  const start = new Float64Array(head.spans);
  const length = new Float64Array(head.spans);
  const label = new Uint32Array(head.spans);
  const launch = new Int32Array(head.spans).fill(-1);
  let lastLaunch = 0;
  let at = 0;
  counts.forEach((count, row) => {
    let end = 0;
    for (const stop = at + count; at < stop; ++at) {
      start[at] = end + gaps.signed();
      length[at] = durations.number();
      label[at] = labels.number();
      end = start[at]! + length[at]!;
      if (!work[label[at]!] || launches.number() === 0) continue;
      lastLaunch += launches.signed();
      launch[at] = lastLaunch - 1;
    }
    first[row + 1] = at;
  });
  let firstRow = 0;
  const tracks = head.tracks.map(({ short_name: shortName, rows, ...track }) => {
    const placed = { ...track, shortName, rank: "", shortGpu: track.gpu, firstRow, rows: rows.length };
    firstRow += rows.length;
    return placed;
  });
  return {
    lengthNs: head.length_ns,
    parts: [{ label: "", shortLabel: "", suffix: "", clock: "first", startNs: 0, firstSpan: 0, leastHostNs: head.least_host_ns }],
    rows: new Rows(start, length, label, first),
    tracks,
    counters: head.counters.map(({ short_name: shortName, ...counter }) => ({ ...counter, shortName })),
    names: head.labels.map(([name]) => name || "(no name)"),
    kinds: head.labels.map(([, kind]) => kind),
    fills: Uint8Array.from(head.labels, ([, , part]) => partIndex(part)),
    classFills: Uint8Array.from(head.labels, ([, , part, name]) => fillIndex(fillOfClass(name, kParts[partIndex(part)]!))),
    classes: head.labels.map(([, , , name]) => name),
    launch,
    links: linksIn(links),
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
