import { pixelOf } from "../canvas/view";
import type { Timeline } from "./decode";
import { downOf, kRowHeight, placeOf, type Layout, type RowPlace } from "./layout";
import type { CriticalPath } from "./path";
import { rowOf } from "./stack";
import type { Area } from "./surroundings";

// The critical path through the tracks: a line along the foot of the spans that are on it, and from each to the next.

const kMostSegments = 3000; // more are a carpet; the lane above shows them all
const kMostSteps = 400;

export function drawPath(area: Area, layout: Layout, timeline: Timeline, path: CriticalPath): number {
  const { context, palette, view, left, ruler, scrolled } = area;
  const { rows, span } = path;
  const first = rows.firstEnding(0, view.begin);
  const last = rows.firstStarting(view.end, first, rows.size);
  if (last - first > kMostSegments) return 0;
  context.fillStyle = palette.ink;
  const places = new Map<number, RowPlace | null>(); // a path comes back to few rows
  const placeOfRow = (row: number): RowPlace | null => {
    if (!places.has(row)) places.set(row, placeOf(layout, row));
    return places.get(row)!;
  };
  let before: number | null = null;
  let drawn = 0;
  for (let i = first; i < last; ++i) {
    if (span[i]! < 0) continue;
    const place = placeOfRow(rowOf(timeline, span[i]!));
    if (!place) continue;
    const foot = ruler + downOf(layout, place, scrolled) + kRowHeight - 2;
    const isSeen = place.band.pinned || foot >= ruler + layout.pinnedHeight;
    const begin = left + Math.max(0, pixelOf(view, rows.start[i]!));
    const end = left + Math.min(view.width, pixelOf(view, rows.end(i)));
    if (isSeen) context.fillRect(begin, foot, Math.max(1, end - begin), 3);
    if (before !== null && before !== foot && last - first <= kMostSteps) {
      context.fillRect(begin, Math.min(before, foot), 1, Math.abs(before - foot) + 3);
    }
    before = foot;
    ++drawn;
  }
  return drawn;
}
