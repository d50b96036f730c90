import { formatDuration, formatPercent } from "../format";
import { kernelAddress, operationAddress } from "../address";
import { Link } from "../link";
import { Panel, type Width } from "../panel";
import { isGpuWork, type Bottleneck, type Part, type ShownName } from "../summary";

const kSpentOn: Record<Part, string> = {
  gpu: "on the GPU", comm: "communication", transfer: "copies", overhead: "in the GPU runtime", cpu: "on the CPU", idle: "idle",
};

export function Bottlenecks({ list, shown, span }: { list: Bottleneck[]; shown: ShownName; span: Width }) {
  return (
    <Panel title="Bottlenecks" note="shares of the self time of all operations" span={span}>
      <div class="findings">
        {list.map((bottleneck, index) => (
          <Link class="finding" key={index} to={isGpuWork(bottleneck.kind) ? kernelAddress(bottleneck.name) : operationAddress(bottleneck)}>
            <div class="share">{formatPercent(bottleneck.share_pct)}</div>
            <div class="what">
              <span class={`label ${bottleneck.part}`}>{kSpentOn[bottleneck.part]}</span>
              <div class="name" title={bottleneck.name}>{shown(bottleneck)}</div>
              <p>{formatDuration(bottleneck.self_ns)} · {formatPercent(bottleneck.cumulative_pct)} with those above</p>
            </div>
          </Link>
        ))}
      </div>
    </Panel>
  );
}
