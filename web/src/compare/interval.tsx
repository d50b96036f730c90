import type { Change } from "./data";
import { signedPercent, toneOf } from "./words";

// What one side of the drawing reaches to: the least of these that holds nearly all intervals.
const kReaches = [10, 20, 40, 80];

export function reachOf(changes: Change[]): number {
  const ends = changes.flatMap(({ low_pct, high_pct }) => (low_pct === null || high_pct === null ? [] : [Math.max(-low_pct, high_pct)]));
  ends.sort((a, b) => a - b);
  const most = ends[Math.floor(ends.length * 0.8)] ?? 0;
  return kReaches.find((reach) => reach >= most) ?? 80;
}

// The change as a dot, its 95 % interval as a line, the threshold as a band around no change. What
// lies beyond the drawing ends in an arrow.
export function Interval({ change, reach, threshold }: { change: Change; reach: number; threshold: number }) {
  const { change_pct: middle, low_pct: low, high_pct: high } = change;
  if (middle === null || low === null || high === null) return null;
  const at = (pct: number) => 50 + (Math.min(reach, Math.max(-reach, pct)) / reach) * 48;
  const place = (pct: number) => `${at(pct)}%`;
  const label = `${signedPercent(middle)}, 95 % interval ${signedPercent(low)} to ${signedPercent(high)}`;
  return (
    <svg class={`interval ${toneOf(change.verdict, middle)}`} role="img" aria-label={label} width="100%" height="20">
      <title>{label}</title>
      <rect class="band" x={place(-threshold)} width={`${at(threshold) - at(-threshold)}%`} y="2" height="16" />
      <line class="zero" x1="50%" x2="50%" y1="1" y2="19" />
      <line class="range" x1={place(low)} x2={place(high)} y1="10" y2="10" />
      {low < -reach && <text x="0" y="14">‹</text>}
      {high > reach && <text x="100%" y="14" text-anchor="end">›</text>}
      <circle cx={place(middle)} cy="10" r="3.5" />
    </svg>
  );
}
