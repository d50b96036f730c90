import { kParts } from "../classes";
import type { Timeline, Track } from "./decode";
import { busyOf, gpusOf, kBlock, lengthWithin, totalsOf, unionOf, type Totals } from "./totals";

// A stretch of time, on some tracks or on all.
export interface Range {
  from: number;
  to: number;
  tracks: number[] | null; // indices into the timeline's; null: all but idle threads
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
  // Threads that do next to nothing wait: that is not what ran.
  const tracks = range.tracks ? range.tracks.map((index) => timeline.tracks[index]!) : timeline.tracks.filter(({ quiet }) => !quiet);
  const summing = new Summing(timeline, range);
  const found: Sums = { names: [], classes: [], tracks: [], gpus: [] };
  for (const track of tracks) {
    const { count, total, self } = summing.add(track);
    if (count === 0) continue;
    const fill = track.gpu && !track.annotations ? kParts.indexOf("gpu") : kParts.indexOf(track.annotations ? "idle" : "cpu");
    found.tracks.push({ name: track.name, kind: "", fill, label: -1, count, total, self });
  }
  summing.finish();
  const byClass = new Map<string, Sum>();
  for (let label = 0; label < names.length; ++label) {
    const count = summing.count[label]!;
    if (count === 0) continue;
    const sum = { name: names[label]!, kind: kinds[label]!, fill: fills[label]!, label, count, total: summing.total[label]!, self: summing.self[label]! };
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

interface TrackSum {
  count: number;
  total: number;
  self: number;
}

// By label: spans that a range cuts one by one, those within it block by block.
class Summing {
  readonly count: Float64Array;
  readonly total: Float64Array;
  readonly self: Float64Array;
  private readonly totals: Totals;
  private whole: [from: number, to: number] = [0, 0]; // spans within the range that are not in the sums yet

  constructor(private readonly timeline: Timeline, private readonly range: Range) {
    [this.count, this.total, this.self] = [0, 1, 2].map(() => new Float64Array(timeline.names.length)) as [Float64Array, Float64Array, Float64Array];
    this.totals = totalsOf(timeline);
  }

  add(track: Track): TrackSum {
    const sum = { count: 0, total: 0, self: 0 };
    for (let row = track.firstRow; row < track.firstRow + track.rows; ++row) this.addRow(track, row, sum);
    return sum;
  }

  private addRow(track: Track, row: number, sum: TrackSum): void {
    const { rows } = this.timeline;
    const { from, to } = this.range;
    const { selfBefore, overlapping } = this.totals;
    let begin = rows.firstEnding(row, from);
    let end = rows.firstStarting(to, begin, rows.first[row + 1]!);
    if (end <= begin) return;
    if (overlapping[row]) {
      for (; begin < end; ++begin) this.addCut(track, row, begin, sum);
      return;
    }
    if (rows.start[begin]! < from || rows.end(begin) > to) this.addCut(track, row, begin++, sum);
    if (end > begin && rows.end(end - 1) > to) this.addCut(track, row, --end, sum);
    if (end <= begin) return;
    sum.count += end - begin;
    sum.total += rows.covered(begin, end);
    sum.self += selfBefore[end]! - selfBefore[begin]!;
    if (this.whole[1] !== begin) {
      this.finish();
      this.whole[0] = begin;
    }
    this.whole[1] = end;
  }

  private addCut(track: Track, row: number, span: number, sum: TrackSum): void {
    const { rows } = this.timeline;
    const { from, to } = this.range;
    const { start, length, label, first } = rows;
    const seen = (i: number) => Math.max(0, Math.min(start[i]! + length[i]!, to) - Math.max(start[i]!, from));
    const end = rows.end(span);
    let self = seen(span);
    if (row + 1 < track.firstRow + track.rows) {
      const last = first[row + 2]!;
      const stop = Math.min(end, to);
      for (let i = rows.firstStarting(start[span]!, first[row + 1]!, last); i < last && start[i]! < stop; ++i) {
        if (rows.end(i) <= end) self -= seen(i);
      }
    }
    self = Math.max(0, self); // spans of a row that overlap
    const at = label[span]!;
    this.count[at]! += 1;
    this.total[at]! += seen(span);
    this.self[at]! += self;
    sum.count += 1;
    sum.total += seen(span);
    sum.self += self;
  }

  // Takes the spans that are waiting into the sums.
  finish(): void {
    let [from, to] = this.whole;
    this.whole = [0, 0];
    for (; from < to && from % kBlock !== 0; ++from) this.addWhole(from);
    for (; from < to && to % kBlock !== 0 && to !== this.timeline.rows.size; ) this.addWhole(--to);
    for (; from < to; from += kBlock) {
      const { label, count, total, self } = this.totals.blocks[from / kBlock]!;
      for (let i = 0; i < label.length; ++i) {
        this.count[label[i]!]! += count[i]!;
        this.total[label[i]!]! += total[i]!;
        this.self[label[i]!]! += self[i]!;
      }
    }
  }

  private addWhole(span: number): void {
    const { length, label } = this.timeline.rows;
    const { selfBefore } = this.totals;
    const at = label[span]!;
    this.count[at]! += 1;
    this.total[at]! += length[span]!;
    this.self[at]! += selfBefore[span + 1]! - selfBefore[span]!;
  }
}

function gpusIn(timeline: Timeline, { from, to }: Range, tracks: Track[]): GpuUse[] {
  const { busy } = totalsOf(timeline);
  const isWork = (gpu: string) => (track: Track) => track.gpu === gpu && !track.annotations;
  return gpusOf(tracks).map((gpu) => {
    const streams = tracks.filter(isWork(gpu));
    const isAll = streams.length === timeline.tracks.filter(isWork(gpu)).length;
    const unions = isAll ? busy.get(gpu)! : busyOf(timeline, streams).map(unionOf);
    const [compute, exchanged, used] = unions.map((union) => lengthWithin(union, from, to)) as [number, number, number];
    return { gpu, compute, communication: exchanged - compute, copies: used - exchanged, idle: to - from - used };
  });
}
