import { kParts } from "../classes";
import { isGpuWork } from "../summary";
import type { Timeline, Track } from "./decode";

// What all spans sum up to, made once: a range of a million spans is then the sum of a few blocks of them, and of what its ends
// cut, to the nanosecond.

export const kBlock = 1024; // spans

// Of the spans of a block, by label.
export interface Block {
  label: Uint32Array;
  count: Float64Array;
  total: Float64Array;
  self: Float64Array;
}

// Stretches of time as pairs of begin and end, by begin, that do not touch; and how long those before each are together.
export interface Union {
  stretches: Stretches;
  before: Float64Array;
}

export interface Totals {
  selfBefore: Float64Array; // of each span: the self times of all before it
  blocks: Block[];
  overlapping: Uint8Array; // rows whose spans overlap, where there were too many rows
  busy: Map<string, Union[]>; // of each GPU: computing; that or communicating; that or copying
}

const making = new WeakMap<Timeline, Generator<void, Totals>>();
const made = new WeakMap<Timeline, Totals>();

export function totalsOf(timeline: Timeline): Totals {
  let totals = made.get(timeline);
  while (!totals) totals = step(timeline);
  return totals;
}

// Makes them while the page has nothing else to do; gives a way to stop.
export function prepareTotals(timeline: Timeline): () => void {
  if (!("requestIdleCallback" in window)) return () => {}; // Safari; they are made when they are asked for
  let pending = 0;
  const go = (deadline: IdleDeadline) => {
    while (deadline.timeRemaining() > 4) if (step(timeline)) return;
    pending = requestIdleCallback(go);
  };
  pending = requestIdleCallback(go);
  return () => cancelIdleCallback(pending);
}

function step(timeline: Timeline): Totals | undefined {
  const known = made.get(timeline);
  if (known) return known;
  let generator = making.get(timeline);
  if (!generator) making.set(timeline, (generator = sums(timeline)));
  const { done, value } = generator.next();
  if (!done) return undefined;
  made.set(timeline, value);
  making.delete(timeline);
  return value;
}

const kPause = 32 * kBlock; // spans between two pauses: a millisecond or so

function* sums(timeline: Timeline): Generator<void, Totals> {
  const { rows } = timeline;
  const selfBefore = new Float64Array(rows.size + 1);
  const overlapping = new Uint8Array(rows.rows);
  for (const track of timeline.tracks) {
    for (let row = track.firstRow; row < track.firstRow + track.rows; ++row) {
      yield* addSelf(timeline, track, row, selfBefore, overlapping);
    }
  }
  for (let i = 0; i < rows.size; ++i) {
    selfBefore[i + 1]! += selfBefore[i]!;
    if (i % kPause === 0) yield;
  }
  const blocks: Block[] = [];
  const place = new Int32Array(timeline.names.length).fill(-1);
  for (let from = 0; from < rows.size; from += kBlock) {
    blocks.push(blockOf(timeline, from, Math.min(rows.size, from + kBlock), selfBefore, place));
    if (blocks.length % (kPause / kBlock) === 0) yield;
  }
  const busy = new Map<string, Union[]>();
  for (const gpu of gpusOf(timeline.tracks)) {
    const unions: Union[] = [];
    for (const stretches of busyOf(timeline, timeline.tracks.filter((track) => track.gpu === gpu))) {
      unions.push(unionOf(stretches));
      yield;
    }
    busy.set(gpu, unions);
  }
  return { selfBefore, blocks, overlapping, busy };
}

export const gpusOf = (tracks: Track[]): string[] => [...new Set(tracks.map(({ gpu }) => gpu))].filter((gpu) => gpu !== null);

// The self time of each span of a row, after its place. What lies inside a span is in the row below it, so both rows are gone
// through side by side.
function* addSelf({ rows }: Timeline, track: Track, row: number, self: Float64Array, overlapping: Uint8Array): Generator<void, void> {
  const { start, length, first } = rows;
  const hasBelow = row + 1 < track.firstRow + track.rows;
  let below = hasBelow ? first[row + 1]! : 0;
  const lastBelow = hasBelow ? first[row + 2]! : 0;
  for (let i = first[row]!; i < first[row + 1]!; ++i) {
    const begin = start[i]!;
    const end = begin + length[i]!;
    if (i + 1 < first[row + 1]! && start[i + 1]! < end) overlapping[row] = 1;
    let left = length[i]!;
    while (below < lastBelow && start[below]! < begin) ++below;
    for (; below < lastBelow && start[below]! < end; ++below) {
      if (start[below]! + length[below]! <= end) left -= length[below]!;
    }
    self[i + 1] = Math.max(0, left); // spans of a row that overlap
    if (i % kPause === 0) yield;
  }
}

function blockOf({ rows }: Timeline, from: number, to: number, selfBefore: Float64Array, place: Int32Array): Block {
  const { length, label } = rows;
  const labels: number[] = [];
  for (let i = from; i < to; ++i) {
    if (place[label[i]!]! < 0) place[label[i]!] = labels.push(label[i]!) - 1;
  }
  const block: Block = {
    label: Uint32Array.from(labels), count: new Float64Array(labels.length), total: new Float64Array(labels.length), self: new Float64Array(labels.length),
  };
  for (let i = from; i < to; ++i) {
    const at = place[label[i]!]!;
    block.count[at]! += 1;
    block.total[at]! += length[i]!;
    block.self[at]! += selfBefore[i + 1]! - selfBefore[i]!;
  }
  for (const each of labels) place[each] = -1;
  return block;
}

type Stretches = Float64Array<ArrayBuffer>;

const kUsedFor = ["gpu", "comm", "transfer"]; // what counts first where several run

// When some streams computed; did that or communicated; did that or copied.
export function busyOf(timeline: Timeline, streams: Track[]): Stretches[] {
  const uses = Int8Array.from(timeline.kinds, (kind, label) => (isGpuWork(kind) ? kUsedFor.indexOf(kParts[timeline.fills[label]!]!) : -1));
  let union: Stretches = new Float64Array(0);
  return stretchesOf(timeline, streams.filter(({ annotations }) => !annotations), uses).map((lists) => {
    for (const list of lists) union = merged(union, list);
    return union;
  });
}

// When each row of some tracks did what, by use.
function stretchesOf({ rows }: Timeline, tracks: Track[], uses: Int8Array): Stretches[][] {
  const { start, length, label, first } = rows;
  const found: Stretches[][] = kUsedFor.map(() => []);
  for (const track of tracks) {
    for (let row = track.firstRow; row < track.firstRow + track.rows; ++row) {
      const [begin, end] = [first[row]!, first[row + 1]!];
      const lists = kUsedFor.map(() => new Float64Array(2 * (end - begin)));
      const counts = kUsedFor.map(() => 0);
      for (let i = begin; i < end; ++i) {
        const use = uses[label[i]!]!;
        if (use < 0) continue;
        const list = lists[use]!;
        const count = counts[use]!;
        list[count] = start[i]!;
        list[count + 1] = start[i]! + length[i]!;
        counts[use] = count + 2;
      }
      lists.forEach((list, use) => { if (counts[use]! > 0) found[use]!.push(list.subarray(0, counts[use])); });
    }
  }
  return found;
}

// Stretches, as pairs by start, of two lists as one; those that touch or overlap are one.
function merged(a: Stretches, b: Stretches): Stretches {
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
  return out.slice(0, count);
}

function lengthsBefore(stretches: Stretches): Float64Array {
  const before = new Float64Array(stretches.length / 2 + 1);
  for (let i = 0; i < stretches.length; i += 2) before[i / 2 + 1] = before[i / 2]! + stretches[i + 1]! - stretches[i]!;
  return before;
}

// How long stretches are within a range.
export function lengthWithin({ stretches, before }: Union, from: number, to: number): number {
  const until = (at: number): number => {
    let [low, high] = [0, stretches.length / 2]; // the first that begins at or after it
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (stretches[2 * middle]! < at) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : before[low]! - Math.max(0, stretches[2 * low - 1]! - at);
  };
  return until(to) - until(from);
}

export const unionOf = (stretches: Stretches): Union => ({ stretches, before: lengthsBefore(stretches) });
