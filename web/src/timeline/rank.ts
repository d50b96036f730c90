import type { AskedRank } from "./address";
import type { Timeline } from "./decode";
import { partOf } from "./load";
import type { Range } from "./sums";

// A rank's GPU work, from its first to its last, as the table of ranks counts it; null where it has none. Where the rank has
// several GPUs, of the one that is asked for.
export function rangeOfRank(timeline: Timeline, { part, device }: AskedRank): Range | null {
  const { rows } = timeline;
  const place = timeline.parts[part];
  if (!place) return null;
  const of = timeline.tracks.map((track, index) => ({ track, index })).filter(({ track }) =>
    track.gpu !== null && !track.annotations && partOf(timeline, rows.first[track.firstRow]!) === place);
  const named = of.filter(({ track }) => device !== null && track.gpu!.endsWith(`GPU ${device}`));
  const tracks = named.length > 0 ? named : of;
  let [from, to] = [Infinity, -Infinity];
  for (const { track } of tracks) {
    for (let row = track.firstRow; row < track.firstRow + track.rows; ++row) {
      const last = rows.first[row + 1]! - 1;
      if (last < rows.first[row]!) continue;
      from = Math.min(from, rows.start[rows.first[row]!]!);
      to = Math.max(to, rows.end(last));
    }
  }
  return to > from ? { from, to, tracks: tracks.map(({ index }) => index) } : null;
}
