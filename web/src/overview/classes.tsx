import { formatDuration, formatPercent, formatPlural } from "../format";
import { Bar, Panel, type Width } from "../panel";
import { SavePanelButton } from "../save";
import { fillIn, type Summary } from "../summary";

// What kinds of work the GPU did. A click leads to its kernels.
export function ClassesPanel({ summary, span }: { summary: Summary; span: Width }) {
  const { classes } = summary;
  const largest = Math.max(...classes.map((row) => row.share_pct), 1);
  return (
    <Panel title="GPU time by class" note="shares of all GPU work" span={span}>
      <SavePanelButton what="GPU time by class" />
      <div class="classes">
        {classes.map((row) => (
          <a key={row.class} class="class-row" href={`#kernels?class=${row.class}`} title={formatPlural(row.count, "call", "calls")}>
            <span class="type"><i class={`fill ${fillIn(summary, row.class)}`} />{row.label}</span>
            <Bar share={row.share_pct / largest} part={fillIn(summary, row.class)} />
            <b>{formatPercent(row.share_pct)}</b>
            <small>{formatDuration(row.sum_ns)}</small>
          </a>
        ))}
      </div>
    </Panel>
  );
}
