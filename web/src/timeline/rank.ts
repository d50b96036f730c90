import type { AskedRank } from "./address";
import type { Timeline } from "./decode";
import { partOf } from "./load";

// The tracks with a rank's GPU work, as indices into the timeline's. Where the rank has several GPUs, of the one that is asked for.
export function tracksOfRank(timeline: Timeline, { part, device }: AskedRank): number[] {
  const place = timeline.parts[part];
  const of = timeline.tracks.map((track, index) => ({ track, index })).filter(({ track }) =>
    track.gpu !== null && !track.annotations && partOf(timeline, timeline.rows.first[track.firstRow]!) === place);
  const named = of.filter(({ track }) => device !== null && track.gpu!.endsWith(`GPU ${device}`));
  return (named.length > 0 ? named : of).map(({ index }) => index);
}
