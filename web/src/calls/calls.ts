import type { Timeline, Track } from "../timeline/decode";

// The calls of an operation, as the timeline has them.

export interface Calls {
  spans: number[]; // the longest first
  leftOut: number; // shorter than those
}

// A browser scrolls no further than some millions of pixels.
export const kMostCalls = 200_000;

// Spans of this name and kind. The numbered steps are one operation: ProfilerStep# has ProfilerStep#7.
export function callsOf(timeline: Timeline, name: string, kind: string): Calls {
  const { label, length } = timeline.rows;
  const isCalled = timeline.names.map((each, at) => timeline.kinds[at] === kind && (each === (name || "(no name)") || (name.endsWith("#") && each.startsWith(name))));
  const spans: number[] = [];
  for (let span = 0; span < label.length; ++span) if (isCalled[label[span]!]) spans.push(span);
  spans.sort((a, b) => length[b]! - length[a]! || a - b);
  return { spans: spans.slice(0, kMostCalls), leftOut: Math.max(0, spans.length - kMostCalls) };
}

// Which track a span is on.
export function trackOf(timeline: Timeline, span: number): Track {
  const row = lastUpTo(timeline.rows.rows, (at) => timeline.rows.first[at]!, span);
  return timeline.tracks[lastUpTo(timeline.tracks.length, (at) => timeline.tracks[at]!.firstRow, row)]!;
}

// The last of `count` whose value is not above another; the values never fall.
function lastUpTo(count: number, value: (at: number) => number, most: number): number {
  let [low, high] = [0, count];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (value(middle) <= most) low = middle;
    else high = middle;
  }
  return low;
}
