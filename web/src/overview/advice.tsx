import { formatDuration, formatGain, formatPercent } from "../format";
import { addressOf } from "../address";
import { Link } from "../link";
import { Panel, type Width } from "../panel";
import type { Advice, Recommendation } from "../summary";

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export function AdvicePanel({ advice, span }: { advice: Advice; span: Width }) {
  return (
    <Panel title="What keeps the GPU from computing" span={span}>
      <div class="findings">
        {advice.findings.map((found) => (
          <Link class="finding" key={found.what} to="suggestions">
            <div class="share">{formatPercent(found.share_pct)}</div>
            <div class="what">
              <span class={`label ${found.part}`}>{found.what}</span>
              <p>{capitalized(found.meaning)}, {formatDuration(found.time_ns)}</p>
            </div>
          </Link>
        ))}
      </div>
      {advice.recommendations.length > 0 && (
        <>
          <h3>What to try</h3>
          <ul class="tries">
            {advice.recommendations.map((one) => <li key={one.title}><Link to={addressOf("suggestions", { title: one.title })}><b>{one.title}</b></Link>{gainOf(one)}. {one.hint}</li>)}
          </ul>
        </>
      )}
    </Panel>
  );
}

function gainOf(one: Recommendation): string {
  if (one.gain_pct === null) return "";
  const ranks = one.of_ranks > 1 ? ` on ${one.ranks} of ${one.of_ranks} ranks` : "";
  return ` (${formatGain(one.gain_pct, one.is_bound, one.is_rough)}${ranks})`;
}
