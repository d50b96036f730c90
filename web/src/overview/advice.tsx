import { formatPercent } from "../format";
import { Panel, type Width } from "../panel";
import type { Advice, Part } from "../summary";

// The colour of what the time was lost to.
function partOf(what: string): Part {
  if (what.startsWith("communication")) return "comm";
  if (what.startsWith("memory") || what.startsWith("cop")) return "transfer";
  return what.startsWith("host") ? "cpu" : "overhead";
}

// "…: 44.9 % (626.5 ms)": the share stands beside the sentence already.
const sentence = (text: string): string => {
  const end = text.search(/: [\d.,]+ % \(/);
  const words = end < 0 ? text : `${text.slice(0, end)}${text.slice(end).replace(/: [\d.,]+ % \((.*)\)$/, ", $1")}`;
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export function AdvicePanel({ advice, span }: { advice: Advice; span: Width }) {
  return (
    <Panel title="What keeps the GPU from computing" span={span}>
      <div class="findings">
        {advice.findings.map((found) => (
          <div class="finding" key={found.what}>
            <div class="share">{formatPercent(found.share_pct)}</div>
            <div class="what">
              <span class={`label ${partOf(found.what)}`}>{found.what}</span>
              <p>{sentence(found.text)}</p>
            </div>
          </div>
        ))}
      </div>
      {advice.recommendations.length > 0 && (
        <>
          <h3>What to try</h3>
          <ul class="tries">{advice.recommendations.map((text) => <li key={text}>{text}</li>)}</ul>
        </>
      )}
    </Panel>
  );
}
