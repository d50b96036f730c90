import { useEffect, useRef } from "preact/hooks";
import { spanAddress, useAsked } from "../address";
import { formatCount, formatDuration, formatGain, formatPercent } from "../format";
import { Link } from "../link";
import { Nothing, Panel } from "../panel";
import type { Suggestion, Suggestions } from "../summary";
import type { TabProps } from "../tab";
import { BeforeAfter } from "./gain";

// A link may ask for one by its title: #suggestions?title=…
export function SuggestionsTab({ summary }: TabProps) {
  const found = summary.suggestions;
  const [asked] = useAsked("suggestions");
  if (!found || found.list.length === 0) {
    return <Nothing>Nothing to suggest: no rule found anything worth changing. {found?.why_no_gains}</Nothing>;
  }
  return (
    <Panel title="What to change, and what it would bring" note={noteOf(found)} span={12}>
      <ol class="suggestions">
        {found.list.map((one, index) => <Entry key={`${index} ${one.title}`} one={one} runNs={found.run_ns} isAsked={one.title === asked.get("title")} />)}
      </ol>
      {found.left_out > 0 && <p class="quiet">{formatCount(found.left_out)} more would bring less than 3 %.</p>}
    </Panel>
  );
}

function noteOf(found: Suggestions): string {
  if (found.together_pct === null) return found.why_no_gains;
  const rough = found.rough_pct === null ? "" : ` (rough: the replay is off by ${formatPercent(found.rough_pct)})`;
  return `${formatPercent(found.together_pct)} of the run together, each counted once, by replaying the trace${rough}`;
}

function Entry({ one, runNs, isAsked }: { one: Suggestion; runNs: number | null; isAsked: boolean }) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => { if (isAsked) item.current?.scrollIntoView({ block: "center" }); }, [isAsked]);
  const bar = one.of_rank ?? { gain: one.gain, run_ns: runNs };
  const from = one.of_rank && one.of_ranks > 1 && one.of_rank.label;
  const about = [one.type, one.operation, one.of_ranks > 1 ? `on ${one.ranks} of ${one.of_ranks} ranks` : ""].filter(Boolean);
  return (
    <li ref={item} class={isAsked ? "suggestion asked" : "suggestion"}>
      <div class="gain">
        <b>{one.gain ? formatGain(one.gain.mid_pct, one.gain.is_bound, one.gain.is_rough) : "–"}</b>
        <span class={`priority ${one.priority}`}>{one.priority}</span>
        {bar.gain && bar.run_ns !== null && <BeforeAfter gain={bar.gain} runNs={bar.run_ns} />}
        {one.of_rank && bar.gain?.after_ns != null && <span class="quiet">{one.of_rank.label}</span>}
      </div>
      <div>
        <h3>{one.title}</h3>
        <p class="quiet">{about.join(" · ")}</p>
        {one.description && <p>{from && <b>{from}: </b>}{one.description}</p>}
        {one.expected && <p>{one.expected}</p>}
        <p>{one.hint}</p>
        {one.code.length > 0 && <pre><code>{one.code.join("\n")}</code></pre>}
        {one.evidence.length > 0 && <Evidence one={one} />}
      </div>
    </li>
  );
}

function Evidence({ one }: { one: Suggestion }) {
  const rest = one.evidence_count - one.evidence.length;
  return (
    <p class="evidence" aria-label="Evidence">
      <span class="quiet">evidence</span>
      {one.evidence.map((span) => (
        <Link key={span.place} class="tool" to={spanAddress(span.place)} title={span.name}>
          {formatDuration(span.duration_ns)} at {formatDuration(span.start_ns)}
        </Link>
      ))}
      {rest > 0 && <span class="quiet">and {formatCount(rest)} more</span>}
    </p>
  );
}
