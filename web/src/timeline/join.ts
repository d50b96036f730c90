import { Rows } from "../canvas/rows";
import type { Counter, Timeline } from "./decode";

// Where a rank stands among the others: src/report/page/rank_timelines.h.
export interface RankPlace {
  label: string;
  short_label: string; // where there is little room
  suffix: string;
  start_ns: number;
  clock: string;
}

export interface RankTimeline {
  place: RankPlace;
  timeline: Timeline;
}

// The timelines of ranks as one, on one clock: their spans one after another, names that several have as one.
export function joined(ranks: RankTimeline[]): Timeline {
  const spans = ranks.reduce((sum, { timeline }) => sum + timeline.rows.size, 0);
  const start = new Float64Array(spans);
  const length = new Float64Array(spans);
  const label = new Uint32Array(spans);
  const launch = new Int32Array(spans).fill(-1);
  const first: number[] = [0];
  const labels = new Labels();
  const all: Timeline = {
    lengthNs: 0, parts: [], tracks: [], counters: [], names: labels.names, kinds: labels.kinds, classes: labels.classes,
    fills: new Uint8Array(), classFills: new Uint8Array(), instants: [], links: [], launch, steps: [], rows: new Rows(start, length, label, new Uint32Array(1)),
  };
  let at = 0;
  for (const { place, timeline } of ranks) {
    const { rows } = timeline;
    const known = labels.add(timeline);
    for (let i = 0; i < rows.size; ++i) {
      start[at + i] = rows.start[i]! + place.start_ns;
      label[at + i] = known[rows.label[i]!]!;
      launch[at + i] = timeline.launch[i]! < 0 ? -1 : timeline.launch[i]! + at;
    }
    length.set(rows.length, at);
    add(all, place, timeline, { at, firstRow: first.length - 1, isFirst: all.parts.length === 0 });
    for (let row = 1; row < rows.first.length; ++row) first.push(at + rows.first[row]!);
    at += rows.size;
  }
  all.fills = Uint8Array.from(labels.fills);
  all.classFills = Uint8Array.from(labels.classFills);
  all.instants.sort((a, b) => a.at - b.at);
  all.rows = new Rows(start, length, label, Uint32Array.from(first));
  return all;
}

// Everything of a rank but its spans.
function add(all: Timeline, place: RankPlace, timeline: Timeline, { at, firstRow, isFirst }: { at: number; firstRow: number; isFirst: boolean }): void {
  const short = place.short_label;
  const tracks = new Map(timeline.tracks.map((track) => [track, {
    ...track,
    name: `${place.label} · ${track.name}`,
    shortName: `${short} ${track.shortName}`,
    rank: short,
    gpu: track.gpu && `${place.label} · ${track.gpu}`,
    shortGpu: track.gpu && `${short} ${track.gpu}`,
    firstRow: track.firstRow + firstRow,
  }]));
  all.tracks.push(...tracks.values());
  all.counters.push(...timeline.counters.map((counter): Counter => ({
    ...counter, name: `${place.label} · ${counter.name}`, shortName: `${short} ${counter.shortName}`, times_ns: counter.times_ns.map((time) => time + place.start_ns),
  })));
  for (const instant of timeline.instants) all.instants.push({ ...instant, track: tracks.get(instant.track)!, at: instant.at + place.start_ns });
  for (const { from, to } of timeline.links) all.links.push({ from: from + at, to: to + at });
  if (isFirst) all.steps = timeline.steps; // one rank's steps are enough for the ruler
  all.lengthNs = Math.max(all.lengthNs, place.start_ns + timeline.lengthNs);
  all.parts.push({ label: place.label, shortLabel: short, suffix: place.suffix, clock: place.clock, startNs: place.start_ns, firstSpan: at, leastHostNs: timeline.parts[0]!.leastHostNs });
}

class Labels {
  readonly names: string[] = [];
  readonly kinds: string[] = [];
  readonly classes: string[] = [];
  readonly fills: number[] = [];
  readonly classFills: number[] = [];
  private readonly ids = new Map<string, number>();

  // For each label of a timeline, its place here.
  add(timeline: Timeline): Uint32Array {
    return Uint32Array.from(timeline.names, (name, i) => {
      const key = `${timeline.kinds[i]!}\n${timeline.classes[i]!}\n${timeline.fills[i]!}\n${name}`;
      const known = this.ids.get(key);
      if (known !== undefined) return known;
      this.ids.set(key, this.names.length);
      this.kinds.push(timeline.kinds[i]!);
      this.classes.push(timeline.classes[i]!);
      this.fills.push(timeline.fills[i]!);
      this.classFills.push(timeline.classFills[i]!);
      return this.names.push(name) - 1;
    });
  }
}
