import type { Rows } from "../canvas/rows";
import type { View } from "../canvas/view";
import { formatDuration } from "../format";
import { kindWords } from "../summary";
import type { Timeline } from "./decode";
import type { Layout } from "./layout";
import { rowOf, spansAround, trackOf, trackOfRow } from "./stack";

// Where the arrow keys lead from span to span: within a track to what is around a span and what is inside it, beyond that to the
// tracks above and below. -1 is nowhere.

// The first row of each track that is shown, from the top; of a GPU in one row, those of its streams.
function linesOf({ bands }: Layout): number[][] {
  return [...bands.filter(({ pinned }) => pinned), ...bands.filter(({ pinned }) => !pinned)].flatMap((band): number[][] => {
    if (band.kind === "gpu") return [band.tracks.map(({ firstRow }) => firstRow)];
    return band.kind === "track" ? [[band.track.firstRow + band.hidden]] : [];
  });
}

// Of some rows, the span at a time, else the one nearest to it.
function nearestIn(rows: Rows, of: number[], at: number): number {
  let best = -1;
  let least = Infinity;
  for (const row of of) {
    const next = rows.firstEnding(row, at);
    for (const span of [next, next - 1]) {
      if (span < rows.first[row]! || span >= rows.first[row + 1]!) continue;
      const apart = Math.max(0, rows.start[span]! - at, at - rows.end(span));
      if (apart < least) [best, least] = [span, apart];
    }
  }
  return best;
}

// In the middle of what is seen, on the first track that has any.
export function firstSeen({ rows }: Timeline, layout: Layout, view: View): number {
  return linesOf(layout).map((line) => nearestIn(rows, line, (view.begin + view.end) / 2)).find((span) => span >= 0) ?? -1;
}

export function above(timeline: Timeline, layout: Layout, view: View, span: number): number {
  return spansAround(timeline, span)[0] ?? onNextTrack(timeline, layout, view, span, -1);
}

export function below(timeline: Timeline, layout: Layout, view: View, span: number): number {
  const { rows } = timeline;
  const row = rowOf(timeline, span);
  const track = trackOfRow(timeline, row);
  if (row + 1 < track.firstRow + track.rows) {
    const inside = rows.firstStarting(rows.start[span]!, rows.first[row + 1]!, rows.first[row + 2]!);
    if (inside < rows.first[row + 2]! && rows.end(inside) <= rows.end(span)) return inside;
  }
  return onNextTrack(timeline, layout, view, span, 1);
}

function onNextTrack(timeline: Timeline, layout: Layout, view: View, span: number, by: number): number {
  const { rows } = timeline;
  const track = trackOf(timeline, span);
  const lines = linesOf(layout);
  const at = lines.findIndex((line) => line.some((row) => row >= track.firstRow && row < track.firstRow + track.rows));
  const middle = (Math.max(view.begin, rows.start[span]!) + Math.min(view.end, rows.end(span))) / 2;
  for (let next = at + by; next >= 0 && next < lines.length; next += by) {
    const found = nearestIn(rows, lines[next]!, middle);
    if (found >= 0) return found;
  }
  return -1;
}

// The moment after or before the one that keys are at; without one, the nearest that way from the middle of what is seen.
export function nextMoment({ instants }: Timeline, view: View, now: number, by: number): number {
  if (now >= 0) return now + by;
  const middle = (view.begin + view.end) / 2;
  const after = instants.findIndex(({ at }) => at >= middle);
  return by > 0 ? after : (after < 0 ? instants.length : after) - 1;
}

// A span in words, for those who hear the page.
export function wordsOf(timeline: Timeline, span: number): string {
  const { rows, names, kinds } = timeline;
  const label = rows.label[span]!;
  return `${names[label]}, ${kindWords(kinds[label]!)}, ${formatDuration(rows.length[span]!)} on ${trackOf(timeline, span).name}`;
}
