import { formatDuration, formatPlural } from "../format";
import type { Timeline } from "./decode";

// How the ranks of a job came onto one clock, and what the page left out of them.
export function rankNotes({ parts }: Timeline): string[] {
  const notes: string[] = [];
  const labels = (clock: string) => parts.filter((part) => part.clock === clock).map(({ label }) => label).join(", ");
  if (parts.length > 1) {
    const [aligned, byDay, unknown] = [labels("collectives"), labels("unix"), labels("unknown")];
    if (aligned) notes.push("The ranks stand on one clock: a collective ends at the same time on all of them.");
    if (byDay) notes.push(`By the time of day: ${byDay}.`);
    if (unknown) notes.push(`Nothing tells how the clocks of these stand to the first, so they begin with it: ${unknown}.`);
  }
  const thinned = parts.filter(({ leastHostNs }) => leastHostNs > 0);
  if (thinned.length > 0) {
    const longest = Math.max(...thinned.map(({ leastHostNs }) => leastHostNs));
    notes.push(`Host work shorter than ${formatDuration(longest)} is left out of ${formatPlural(thinned.length, "rank", "ranks")}; GPU work is complete.`);
  }
  return notes;
}
