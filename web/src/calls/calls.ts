import type { Timeline } from "../timeline/decode";

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
