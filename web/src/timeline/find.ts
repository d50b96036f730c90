import type { Timeline } from "./decode";

// Spans whose name has all words of a query, and that are of a class where one is asked for. Names are few and spans many, so a name is looked at
// once and the spans are counted by their label.
export interface Matches {
  labels: Uint8Array; // 1 where the name matches
  count: number;
}

export function findSpans(timeline: Timeline, query: string, ofClass = ""): Matches | null {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0 && ofClass === "") return null;
  const labels = Uint8Array.from(timeline.names, (name, label) => {
    if (ofClass !== "" && timeline.classes[label] !== ofClass) return 0;
    const text = name.toLowerCase();
    return words.every((word) => text.includes(word)) ? 1 : 0;
  });
  let count = 0;
  const { label } = timeline.rows;
  for (let i = 0; i < label.length; ++i) count += labels[label[i]!]!;
  return { labels, count };
}

// The match before or after a span in order of time, around the end; and which one it is, from 1.
export function neighbour(timeline: Timeline, matches: Matches, from: number, forward: boolean): { span: number; rank: number } | null {
  const { start, label } = timeline.rows;
  const comesBefore = (a: number, b: number) => start[a]! < start[b]! || (start[a] === start[b] && a < b);
  let best = -1;
  let farthest = -1;
  for (let i = 0; i < label.length; ++i) {
    if (!matches.labels[label[i]!]) continue;
    if (farthest < 0 || comesBefore(i, farthest) === forward) farthest = i;
    if (i === from) continue;
    const isAhead = from < 0 || comesBefore(from, i) === forward;
    if (isAhead && (best < 0 || comesBefore(i, best) === forward)) best = i;
  }
  const span = best >= 0 ? best : farthest;
  if (span < 0) return null;
  let rank = 1;
  for (let i = 0; i < label.length; ++i) if (matches.labels[label[i]!] && comesBefore(i, span)) ++rank;
  return { span, rank };
}
