import { formatDuration, formatPercent } from "../format";
import { Panel, type Width } from "../panel";
import { shownName, type Bottleneck, type Part } from "../summary";

const kSpentOn: Record<Part, string> = {
  gpu: "on the GPU", comm: "communication", transfer: "copies", overhead: "in the GPU runtime", cpu: "on the CPU", idle: "idle",
};

export function Bottlenecks({ list, span }: { list: Bottleneck[]; span: Width }) {
  return (
    <Panel title="Bottlenecks" note="shares of the self time of all operations" span={span}>
      <div class="findings">
        {list.map((bottleneck, index) => (
          <div class="finding" key={index}>
            <div class="share">{formatPercent(bottleneck.share_pct)}</div>
            <div class="what">
              <span class={`label ${bottleneck.part}`}>{kSpentOn[bottleneck.part]}</span>
              <div class="name" title={bottleneck.name}>{shownName(bottleneck)}</div>
              <p>{formatDuration(bottleneck.self_ns)} · {formatPercent(bottleneck.cumulative_pct)} with those above</p>
            </div>
          </div>
        ))}
      </div>
    </Panel>
  );
}
