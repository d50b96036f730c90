import type { Timeline, Track } from "./decode";

// What a span was called from and what it led to, across threads and GPUs.

export function rowOf({ rows }: Timeline, span: number): number {
  const { first } = rows;
  let low = 0;
  let high = first.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (first[middle]! <= span) low = middle;
    else high = middle;
  }
  return low;
}

export const trackOf = (timeline: Timeline, span: number): Track => trackOfRow(timeline, rowOf(timeline, span));

export function trackOfRow({ tracks }: Timeline, row: number): Track {
  return tracks.find((track) => row >= track.firstRow && row < track.firstRow + track.rows)!;
}

// The spans of its track around a span, innermost first.
export function spansAround(timeline: Timeline, span: number): number[] {
  const { rows } = timeline;
  const end = rows.end(span);
  const around: number[] = [];
  const row = rowOf(timeline, span);
  for (let above = row - 1; above >= trackOfRow(timeline, row).firstRow; --above) {
    const found = rows.firstStarting(rows.start[span]! + 0.5, rows.first[above]!, rows.first[above + 1]!) - 1;
    if (found >= rows.first[above]! && rows.end(found) >= end) around.push(found);
  }
  return around;
}

const kMostFound = 100_000;

// The GPU work that was launched within a span of the host, by its own call or by what it called, as their spans.
export function launchedWithin(timeline: Timeline, span: number): number[] {
  const { rows, launch } = timeline;
  const track = trackOf(timeline, span);
  const [from, to] = [rows.first[track.firstRow]!, rows.first[track.firstRow + track.rows]!];
  const [begin, end] = [rows.start[span]!, rows.end(span)];
  const found: number[] = [];
  for (let work = 0; work < launch.length && found.length < kMostFound; ++work) {
    const call = launch[work]!;
    if (call >= from && call < to && rows.start[call]! >= begin && rows.end(call) <= end) found.push(work);
  }
  return found.sort((a, b) => rows.start[a]! - rows.start[b]!);
}
