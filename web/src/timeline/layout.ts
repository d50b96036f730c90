import type { Counter, Timeline, Track } from "./decode";
import type { CriticalPath } from "./path";

// Where tracks and counters stand. Pinned ones stay at the top; the others scroll below them.

export const kRowHeight = 17;
export const kRowGap = 1;
const kPitch = kRowHeight + kRowGap;
const kTrackGap = 9;
const kCounterHeight = 38;
const kMostPinned = 0.5; // of the room; what does not fit scrolls

interface Place {
  top: number; // from the top of its region
  height: number;
  pinned: boolean;
}

export type TrackBand = Place & { kind: "track"; track: Track; rows: number; hidden: number }; // rows shown, after so many that are folded into the first
export type CounterBand = Place & { kind: "counter"; counter: Counter; highest: number };
export type PathBand = Place & { kind: "path"; path: CriticalPath };
export type QuietBand = Place & { kind: "quiet"; tracks: Track[] }; // threads that do next to nothing, as one
export type Band = TrackBand | CounterBand | PathBand | QuietBand;

export interface Layout {
  bands: Band[];
  pinnedHeight: number;
  height: number; // of what scrolls
}

// What the reader chose to see.
export interface Shown {
  pinned: Set<Track>;
  folded: Set<Track>; // to one row
  framed: Set<Track>; // their frames are one row
  quiet: boolean; // threads that do next to nothing stand by themselves
  paths: CriticalPath[];
}

export const shownAtFirst = (timeline: Timeline): Shown => ({
  pinned: new Set(timeline.tracks.filter((track) => track.gpu !== null && !track.annotations)),
  folded: new Set(),
  framed: new Set(timeline.tracks.filter((track) => track.frames > 0)),
  quiet: false,
  paths: [],
});

// `room` is the height of the canvas below its head.
export function layoutOf(timeline: Timeline, shown: Shown, room: number): Layout {
  const bands: Band[] = [];
  let pinnedHeight = 0;
  let height = 6;
  const add = (band: Band) => {
    if (band.pinned) {
      band.top = pinnedHeight + 4;
      pinnedHeight = band.top + band.height + 2;
    } else {
      band.top = height;
      height += band.height + kTrackGap;
    }
    bands.push(band);
  };
  const place = (rows: number, pinned = false): Place => ({ top: 0, height: rows * kPitch, pinned });
  const addTrack = (track: Track) => {
    const hidden = shown.framed.has(track) ? track.frames - 1 : 0;
    const rows = shown.folded.has(track) ? 1 : track.rows - hidden;
    const fits = pinnedHeight + rows * kPitch <= room * kMostPinned;
    add({ kind: "track", ...place(rows, shown.pinned.has(track) && fits), track, rows, hidden });
  };
  for (const path of shown.paths) add({ kind: "path", ...place(1, pinnedHeight + kPitch <= room * kMostPinned), path });
  const isQuiet = (track: Track) => track.quiet && !shown.pinned.has(track);
  timeline.tracks.filter((track) => shown.pinned.has(track)).forEach(addTrack);
  timeline.tracks.filter((track) => track.gpu !== null && !shown.pinned.has(track)).forEach(addTrack);
  for (const counter of timeline.counters) {
    const highest = (counter.high ?? counter.values).reduce((a, b) => Math.max(a, b), 0);
    add({ kind: "counter", top: 0, height: kCounterHeight, pinned: false, counter, highest });
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

// How far below the top of its band a row stands, or the row that it is folded into.
export const downTo = (band: TrackBand, row: number): number =>
  Math.max(0, Math.min(row - band.track.firstRow - band.hidden, band.rows - 1)) * kPitch;

// Whether a row is folded away.
export const isFolded = (band: TrackBand, row: number): boolean => {
  const at = row - band.track.firstRow - band.hidden;
  return at < 0 || at >= band.rows;
};
