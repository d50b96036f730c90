import { kParts } from "../classes";
import { isGpuWork } from "../summary";
import type { Timeline, Track } from "./decode";

// A stretch of time, on some tracks or on all.
export interface Range {
  from: number;
  to: number;
  tracks: number[] | null; // indices into the timeline's
}

// What ran in a range: all times are within it.
export interface Sum {
  name: string;
  kind: string; // of spans with one name; else empty
  fill: number; // index of kFills
  label: number; // of spans; -1 of others
  count: number;
  total: number; // of spans within each other, each counts
  self: number; // less what ran inside them on the same track
}

// What a GPU did: each instant counts once, as compute, else communication, else copies, else idle.
export interface GpuUse {
  gpu: string;
  compute: number;
  communication: number;
  copies: number;
  idle: number;
}

export interface Sums {
  names: Sum[]; // most self time first
  classes: Sum[]; // of GPU work
  tracks: Sum[];
  gpus: GpuUse[];
}

export function sumUp(timeline: Timeline, range: Range): Sums {
  const { names, kinds, fills, classes } = timeline;
  const labels = emptySums(names.length);
  const tracks = range.tracks ? range.tracks.map((index) => timeline.tracks[index]!) : timeline.tracks;
  const found: Sums = { names: [], classes: [], tracks: [], gpus: [] };
  for (const track of tracks) {
    const before = { ...labels.all };
    for (let row = track.firstRow; row < track.firstRow + track.rows; ++row) addRow(timeline, range, track, row, labels);
    const count = labels.all.count - before.count;
    if (count === 0) continue;
    const fill = track.gpu && !track.annotations ? kParts.indexOf("gpu") : kParts.indexOf(track.annotations ? "idle" : "cpu");
    found.tracks.push({ name: track.name, kind: "", fill, label: -1, count, total: labels.all.total - before.total, self: labels.all.self - before.self });
  }
  const byClass = new Map<string, Sum>();
  for (let label = 0; label < names.length; ++label) {
    const count = labels.count[label]!;
    if (count === 0) continue;
    const sum = { name: names[label]!, kind: kinds[label]!, fill: fills[label]!, label, count, total: labels.total[label]!, self: labels.self[label]! };
    found.names.push(sum);
    const name = classes[label]!;
    if (!name) continue;
    const known = byClass.get(name);
    if (known) {
      known.count += sum.count;
      known.total += sum.total;
      known.self += sum.self;
    } else {
      byClass.set(name, { ...sum, name, kind: "", label: -1, fill: timeline.classFills[label]! });
    }
  }
  found.classes = [...byClass.values()];
  for (const list of [found.names, found.classes, found.tracks]) list.sort((a, b) => b.self - a.self);
  found.gpus = gpusIn(timeline, range, tracks);
  return found;
}

interface LabelSums {
  count: Float64Array;
  total: Float64Array;
  self: Float64Array;
  all: { count: number; total: number; self: number };
}

const emptySums = (labels: number): LabelSums => ({
  count: new Float64Array(labels), total: new Float64Array(labels), self: new Float64Array(labels), all: { count: 0, total: 0, self: 0 },
});

// What lies inside a span is in the row below it, so both rows are gone through side by side.
function addRow({ rows }: Timeline, { from, to }: Range, track: Track, row: number, sums: LabelSums): void {
  const { start, length, label, first } = rows;
  const { count, total, self } = sums;
  const last = rows.firstStarting(to, first[row]!, first[row + 1]!);
  const hasBelow = row + 1 < track.firstRow + track.rows;
  let below = hasBelow ? rows.firstEnding(row + 1, from) : 0;
  const lastBelow = hasBelow ? first[row + 2]! : 0;
  let [spans, allSeen, allSelf] = [0, 0, 0];
  for (let i = rows.firstEnding(row, from); i < last; ++i) {
    const begin = start[i]!;
    const end = begin + length[i]!;
    const seen = (end < to ? end : to) - (begin > from ? begin : from);
    let left = seen;
    while (below < lastBelow && start[below]! < begin) ++below;
    for (; below < lastBelow; ++below) {
      const innerBegin = start[below]!;
      if (innerBegin >= end || innerBegin >= to) break;
      const innerEnd = innerBegin + length[below]!;
      if (innerEnd <= end) left -= (innerEnd < to ? innerEnd : to) - (innerBegin > from ? innerBegin : from);
    }
    if (left < 0) left = 0; // spans of a row that overlap, where there were too many rows
    const at = label[i]!;
    count[at]! += 1;
    total[at]! += seen;
    self[at]! += left;
    spans += 1;
    allSeen += seen;
    allSelf += left;
  }
  sums.all.count += spans;
  sums.all.total += allSeen;
  sums.all.self += allSelf;
}

const kUsedFor = ["gpu", "comm", "transfer"]; // what counts first where several run

function gpusIn(timeline: Timeline, range: Range, tracks: Track[]): GpuUse[] {
  const uses = Int8Array.from(timeline.kinds, (kind, label) => (isGpuWork(kind) ? kUsedFor.indexOf(kParts[timeline.fills[label]!]!) : -1));
  const whole = range.to - range.from;
  return [...new Set(tracks.map(({ gpu }) => gpu))].filter((gpu) => gpu !== null).map((gpu) => {
    const streams = tracks.filter((track) => track.gpu === gpu && !track.annotations);
    let union: Stretches = new Float64Array(0);
    const [compute, exchanged, busy] = stretchesOf(timeline, range, streams, uses).map((lists) => {
      for (const list of lists) union = merged(union, list);
      return lengthOf(union);
    }) as [number, number, number];
    return { gpu, compute, communication: exchanged - compute, copies: busy - exchanged, idle: whole - busy };
  });
}

type Stretches = Float64Array<ArrayBuffer>; // pairs of begin and end, by begin

// When each row of some tracks did what, by use.
function stretchesOf({ rows }: Timeline, { from, to }: Range, tracks: Track[], uses: Int8Array): Stretches[][] {
  const { start, length, label, first } = rows;
  const found: Stretches[][] = kUsedFor.map(() => []);
  for (const track of tracks) {
    for (let row = track.firstRow; row < track.firstRow + track.rows; ++row) {
      const begin = rows.firstEnding(row, from);
      const end = rows.firstStarting(to, begin, first[row + 1]!);
      if (end <= begin) continue;
      const lists = kUsedFor.map(() => new Float64Array(2 * (end - begin)));
      const counts = kUsedFor.map(() => 0);
      for (let i = begin; i < end; ++i) {
        const use = uses[label[i]!]!;
        if (use < 0) continue;
        const list = lists[use]!;
        const count = counts[use]!;
        const stop = start[i]! + length[i]!;
        list[count] = start[i]! > from ? start[i]! : from;
        list[count + 1] = stop < to ? stop : to;
        counts[use] = count + 2;
      }
      lists.forEach((list, use) => { if (counts[use]! > 0) found[use]!.push(list.subarray(0, counts[use])); });
    }
  }
  return found;
}

function lengthOf(stretches: Stretches): number {
  let sum = 0;
  for (let i = 0; i < stretches.length; i += 2) sum += stretches[i + 1]! - stretches[i]!;
  return sum;
}

// Stretches, as pairs by start, of two lists as one; those that touch or overlap are one.
function merged(a: Stretches, b: Stretches): Stretches {
  if (a.length === 0) return b;
  const out = new Float64Array(a.length + b.length);
  let count = 0;
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const takesA = j >= b.length || (i < a.length && a[i]! <= b[j]!);
    const begin = takesA ? a[i]! : b[j]!;
    const end = takesA ? a[i + 1]! : b[j + 1]!;
    if (takesA) i += 2;
    else j += 2;
    if (count > 0 && begin <= out[count - 1]!) {
      if (end > out[count - 1]!) out[count - 1] = end;
    } else {
      out[count++] = begin;
      out[count++] = end;
    }
  }
  return out.subarray(0, count);
}
