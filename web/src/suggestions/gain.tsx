import { formatDuration, formatPercent } from "../format";
import type { Gain } from "../summary";

// The run as it was and as the replay has it after the change, one above the other on the same scale; the mark at the end reaches from
// the change done as well as can be to the change done half-heartedly. Of a bound, the least that would be left.
export function BeforeAfter({ gain, runNs }: { gain: Gain; runNs: number }) {
  if (gain.after_ns === null) return null;
  const after = 100 - gain.mid_pct;
  const least = 100 - (gain.high_pct ?? gain.mid_pct);
  const most = 100 - (gain.low_pct ?? gain.mid_pct);
  const range = gain.low_pct === null || gain.high_pct === null || gain.is_bound ? "" : `, ${formatPercent(gain.low_pct)} to ${formatPercent(gain.high_pct)} less`;
  const words = `now ${formatDuration(runNs)}, then ${gain.is_bound ? "at least " : ""}${formatDuration(gain.after_ns)}${range}`;
  return (
    <div class="before-after" role="img" aria-label={words} title={words}>
      <span>now</span><div><i class="now" /></div><span>{formatDuration(runNs)}</span>
      <span>then</span>
      <div>
        <i class={gain.is_bound ? "then bound" : "then"} style={{ width: `${after}%` }} />
        {!gain.is_bound && most > least && <b style={{ left: `${least}%`, width: `${most - least}%` }} />}
      </div>
      <span>{gain.is_bound ? "≥ " : ""}{formatDuration(gain.after_ns)}</span>
    </div>
  );
}
