import type { Counter, Timeline, Track } from "./decode";

// Where tracks and counters stand, from the top of the scrolled area.

export const kRowHeight = 17;
export const kRowGap = 1;
const kTrackGap = 9;
const kCounterHeight = 38;

export type Band =
  | { kind: "track"; top: number; height: number; track: Track; rows: number } // rows shown; 1 where folded
  | { kind: "counter"; top: number; height: number; counter: Counter; highest: number };

export interface Layout {
  bands: Band[];
  height: number;
}

export function layoutOf(timeline: Timeline, folded: ReadonlySet<Track>): Layout {
  const bands: Band[] = [];
  let top = 6;
  const addTrack = (track: Track) => {
    const rows = folded.has(track) ? 1 : track.rows;
    const height = rows * (kRowHeight + kRowGap);
    bands.push({ kind: "track", top, height, track, rows });
    top += height + kTrackGap;
  };
  timeline.tracks.filter((track) => track.gpu).forEach(addTrack);
  for (const counter of timeline.counters) {
    const highest = counter.values.reduce((a, b) => Math.max(a, b), 0);
    bands.push({ kind: "counter", top, height: kCounterHeight, counter, highest });
    top += kCounterHeight + kTrackGap;
  }
  timeline.tracks.filter((track) => !track.gpu).forEach(addTrack);
  return { bands, height: top };
}

// The row at y; -1 where there is none.
export function rowAt(layout: Layout, y: number): number {
  for (const band of layout.bands) {
    if (band.kind !== "track" || y < band.top || y >= band.top + band.height) continue;
    return band.track.firstRow + Math.floor((y - band.top) / (kRowHeight + kRowGap));
  }
  return -1;
}

// The top of a row; of its track's only one where that is folded.
export function topOf(layout: Layout, row: number): number {
  for (const band of layout.bands) {
    if (band.kind !== "track" || row < band.track.firstRow || row >= band.track.firstRow + band.track.rows) continue;
    return band.top + Math.min(row - band.track.firstRow, band.rows - 1) * (kRowHeight + kRowGap);
  }
  return 0;
}
