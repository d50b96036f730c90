import { formatCount, formatDuration, formatPercent } from "../format";
import { Nothing, Panel } from "../panel";
import type { Suggestion, Suggestions } from "../summary";
import type { TabProps } from "../tab";

export function SuggestionsTab({ summary }: TabProps) {
  const found = summary.suggestions;
  if (!found) return <Nothing>This report has no suggestions: make one of a trace with <code>fathom report TRACE -o report.html</code>.</Nothing>;
  if (found.list.length === 0) {
    return <Nothing>Nothing to suggest: no rule found anything worth changing. {found.why_no_gains}</Nothing>;
  }
  return (
    <Panel title="What to change, and what it would bring" note={noteOf(found)} span={12}>
      <ol class="suggestions">
        {found.list.map((one, index) => <Entry key={`${index} ${one.title}`} one={one} />)}
      </ol>
      {found.left_out > 0 && <p class="quiet">{formatCount(found.left_out)} more would bring less than 0.5 %.</p>}
    </Panel>
  );
}

function noteOf(found: Suggestions): string {
  if (found.why_no_gains !== "") return found.why_no_gains;
  const total = found.list.reduce((sum, one) => sum + (one.gain?.mid_pct ?? 0), 0);
  return `${formatPercent(total)} of the run together, each counted once, by replaying the trace`;
}

function Entry({ one }: { one: Suggestion }) {
  const [words, ...code] = one.hint.split("\n");
  return (
    <li class="suggestion">
      <div class="gain">
        <b>{one.gain ? `${one.gain.is_bound ? "≤ " : "−"}${formatPercent(one.gain.mid_pct)}` : "–"}</b>
        <span class={`priority ${one.priority}`}>{one.priority}</span>
        {one.gain && !one.gain.is_bound && <GainRange gain={one.gain} />}
      </div>
      <div>
        <h3>{one.title}</h3>
        <p class="quiet">{one.type} · {one.operation}</p>
        <p>{one.description}</p>
        <p>{one.expected}</p>
        <p>{words}</p>
        {code.length > 0 && <pre><code>{code.join("\n")}</code></pre>}
        {one.evidence.length > 0 && <Evidence one={one} />}
      </div>
    </li>
  );
}

// From the low estimate to the high one, with the middle marked.
function GainRange({ gain }: { gain: NonNullable<Suggestion["gain"]> }) {
  const range = `${formatPercent(gain.low_pct)} to ${formatPercent(gain.high_pct)}`;
  return (
    <div class="range" role="img" aria-label={range} title={range}>
      <i style={{ left: `${gain.low_pct}%`, width: `${Math.max(0, gain.high_pct - gain.low_pct)}%` }} />
      <b style={{ left: `${gain.mid_pct}%` }} />
    </div>
  );
}

function Evidence({ one }: { one: Suggestion }) {
  const rest = one.evidence_count - one.evidence.length;
  return (
    <p class="evidence" aria-label="Evidence">
      {one.evidence.map((span) => (
        <a key={span.place} class="tool" href={`#timeline?span=${span.place}`} title={span.name}>
          {formatDuration(span.duration_ns)} at {formatDuration(span.start_ns)}
        </a>
      ))}
      {rest > 0 && <span class="quiet">and {formatCount(rest)} more</span>}
    </p>
  );
}
