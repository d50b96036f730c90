import { formatDuration, known } from "../format";
import { Panel } from "../panel";
import { SavePanelButton } from "../save";
import { nameOf, selfChange, type Change } from "./data";
import { Distribution } from "./distribution";
import { signedDuration, signedPercent } from "./words";

// One operation: its figures, and how long its calls took before and now.
export function ChangeDetails({ change, unit }: { change: Change; unit: string }) {
  const facts: [string, string][] = [
    ["verdict", change.verdict],
    ["before", known(change.base_ns, formatDuration)],
    ["now", known(change.current_ns, formatDuration)],
    ["change", known(change.change_pct, signedPercent)],
    ["95 % interval", change.low_pct === null || change.high_pct === null ? "–" : `${signedPercent(change.low_pct)} … ${signedPercent(change.high_pct)}`],
    [`self time of a ${unit}`, signedDuration(selfChange(change))],
    [`calls of a ${unit}`, change.calls],
    ["p95", `${known(change.base_p95_ns, formatDuration)} → ${known(change.current_p95_ns, formatDuration)}`],
  ];
  if (change.runs_needed !== null) facts.push(["would decide it", `about ${change.runs_needed} runs per side`]);
  return (
    <Panel title="Chosen operation" span={12}>
      <SavePanelButton what="chosen operation" />
      <p class="fullname">{nameOf(change)}</p>
      <dl class="facts">
        {facts.map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{value}</dd></div>)}
      </dl>
      {change.note && <p class="note">{change.note}</p>}
      <Distribution change={change} />
    </Panel>
  );
}
