import type { Counter, Timeline, Track } from "./decode";
import type { CriticalPath } from "./path";

// Where tracks and counters stand. Pinned ones stay at the top; the others scroll below them.

export const kRowHeight = 17;
export const kRowGap = 1;
const kPitch = kRowHeight + kRowGap;
const kTrackGap = 9;
const kCounterHeight = 38;

interface Place {
  top: number; // from the top of its region
  height: number;
  pinned: boolean;
}

export type TrackBand = Place & { kind: "track"; track: Track; rows: number; hidden: number }; // rows shown, after so many that are folded into the first
export type CounterBand = Place & { kind: "counter"; counter: Counter; highest: number };
export type PathBand = Place & { kind: "path"; path: CriticalPath };
export type GpuBand = Place & { kind: "gpu"; gpu: string; tracks: Track[]; isOpen: boolean }; // its streams in one row, and by themselves below it
export type QuietBand = Place & { kind: "quiet"; tracks: Track[] }; // threads that do next to nothing, as one
export type Band = TrackBand | CounterBand | PathBand | GpuBand | QuietBand;

export interface Layout {
  bands: Band[];
  pinnedHeight: number;
  height: number; // of what scrolls
}

// What the reader chose to see.
export interface Shown {
  pinned: Set<Track | Counter>;
  folded: Set<Track>; // to one row
  framed: Set<Track>; // their frames are one row
  quiet: boolean; // threads that do next to nothing stand by themselves
  grouped: boolean; // the streams of each GPU are one row
  open: Set<string>; // but for these GPUs
  paths: CriticalPath[];
}

const kMostStreams = 12; // with more, GPUs are rows

const streamsOf = ({ tracks }: Timeline): Track[] => tracks.filter((track) => track.gpu !== null && !track.annotations);

export const shownAtFirst = (timeline: Timeline): Shown => ({
  pinned: new Set(streamsOf(timeline)),
  folded: new Set(),
  framed: new Set(timeline.tracks.filter((track) => track.frames > 0)),
  quiet: false,
  grouped: streamsOf(timeline).length > kMostStreams,
  open: new Set(),
  paths: [],
});

// What may be pinned, in the order of the page.
export const pinnableOf = ({ tracks, counters }: Timeline): (Track | Counter)[] => [...tracks.filter((track) => !track.quiet), ...counters];

// What is pinned takes `mostPinned` pixels at most: what does not fit scrolls.
export function layoutOf(timeline: Timeline, shown: Shown, mostPinned: number): Layout {
  const bands: Band[] = [];
  let pinnedHeight = 0;
  let height = 6;
  const add = (band: Band) => {
    if (band.pinned) {
      band.top = pinnedHeight + (goesOn(band) ? 1 : 5);
      pinnedHeight = band.top + band.height;
    } else {
      band.top = height - (goesOn(band) ? kTrackGap - 1 : 0);
      height = band.top + band.height + kTrackGap;
    }
    bands.push(band);
  };
  // The streams of a GPU stand close together.
  const goesOn = (band: Band) => {
    const before = bands.filter(({ pinned }) => pinned === band.pinned).at(-1);
    const gpu = band.kind === "track" ? band.track.gpu : null;
    return gpu !== null && ((before?.kind === "track" && before.track.gpu === gpu) || (before?.kind === "gpu" && before.gpu === gpu));
  };
  const place = (rows: number, pinned = false): Place => ({ top: 0, height: rows * kPitch, pinned });
  const addTrack = (track: Track) => {
    const hidden = shown.framed.has(track) ? track.frames - 1 : 0;
    const rows = shown.folded.has(track) ? 1 : track.rows - hidden;
    const fits = pinnedHeight + rows * kPitch <= mostPinned;
    add({ kind: "track", ...place(rows, shown.pinned.has(track) && fits), track, rows, hidden });
  };
  const addPaths = () => {
    for (const path of shown.paths) add({ kind: "path", ...place(1, pinnedHeight + kPitch <= mostPinned), path });
  };
  if (shown.paths.length === 1) addPaths();
  const isQuiet = (track: Track) => track.quiet && !shown.pinned.has(track);
  const isGrouped = (track: Track) => shown.grouped && track.gpu !== null && !track.annotations;
  if (shown.grouped) {
    const streams = streamsOf(timeline);
    for (const gpu of new Set(streams.map((track) => track.gpu!))) {
      const tracks = streams.filter((track) => track.gpu === gpu);
      const isOpen = shown.open.has(gpu);
      add({ kind: "gpu", ...place(1, pinnedHeight + kPitch <= mostPinned), gpu, tracks, isOpen });
      if (isOpen) tracks.forEach(addTrack);
    }
  }
  timeline.tracks.filter((track) => shown.pinned.has(track) && !isGrouped(track)).forEach(addTrack);
  timeline.tracks.filter((track) => track.gpu !== null && !shown.pinned.has(track) && !isGrouped(track)).forEach(addTrack);
  if (shown.paths.length > 1) addPaths(); // of many ranks, their GPUs first
  for (const counter of timeline.counters) {
    const highest = (counter.high ?? counter.values).reduce((a, b) => Math.max(a, b), 0);
    const fits = pinnedHeight + kCounterHeight <= mostPinned;
    add({ kind: "counter", top: 0, height: kCounterHeight, pinned: shown.pinned.has(counter) && fits, counter, highest });
  }
  const host = timeline.tracks.filter((track) => track.gpu === null && !shown.pinned.has(track));
  host.filter((track) => !isQuiet(track)).forEach(addTrack);
  const quiet = host.filter(isQuiet);
  if (quiet.length > 0) add({ kind: "quiet", ...place(1), tracks: quiet });
  if (shown.quiet) quiet.forEach(addTrack);
  return { bands, pinnedHeight: pinnedHeight > 0 ? pinnedHeight + 4 : 0, height };
}

// How far below the head a band stands, when so much was scrolled.
export const bandTop = (layout: Layout, band: Band, scrolled: number): number =>
  band.pinned ? band.top : layout.pinnedHeight + band.top - scrolled;

// The band at so much below the head; null where there is none.
export function bandAt(layout: Layout, scrolled: number, down: number): Band | null {
  return layout.bands.find((band) => {
    if (!band.pinned && down < layout.pinnedHeight) return false;
    const top = bandTop(layout, band, scrolled);
    return down >= top && down < top + band.height;
  }) ?? null;
}

export const bandOf = (layout: Layout, row: number): TrackBand | null =>
  layout.bands.find((band): band is TrackBand => band.kind === "track" && row >= band.track.firstRow && row < band.track.firstRow + band.track.rows) ?? null;

// The row that stands so much below the top of its band.
export const rowIn = (band: TrackBand, down: number): number =>
  band.track.firstRow + band.hidden + Math.min(band.rows - 1, Math.floor(down / kPitch));

// Where a row stands, or the row that it is folded into.
export interface RowPlace {
  band: TrackBand | GpuBand;
  down: number; // below the top of the band
}

// Null where its track is not shown.
export function placeOf(layout: Layout, row: number): RowPlace | null {
  const band = bandOf(layout, row);
  if (band) return { band, down: Math.max(0, Math.min(row - band.track.firstRow - band.hidden, band.rows - 1)) * kPitch };
  const holds = ({ firstRow, rows }: Track) => row >= firstRow && row < firstRow + rows;
  const gpu = layout.bands.find((one): one is GpuBand => one.kind === "gpu" && one.tracks.some(holds));
  return gpu ? { band: gpu, down: 0 } : null;
}

// How far below the head a place stands.
export const downOf = (layout: Layout, { band, down }: RowPlace, scrolled: number): number => bandTop(layout, band, scrolled) + down;

// Whether a row is folded away.
export const isFolded = (band: TrackBand, row: number): boolean => {
  const at = row - band.track.firstRow - band.hidden;
  return at < 0 || at >= band.rows;
};
