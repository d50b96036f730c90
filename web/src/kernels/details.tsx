import { formatCount, formatDuration } from "../format";
import { Panel } from "../panel";
import { Histogram } from "./histogram";
import type { Operation } from "../summary";

// One kernel, with its whole name.
export function KernelDetails({ kernel, type }: { kernel: Operation; type: string }) {
  const facts: [string, string][] = [
    ["type", type],
    ["calls", formatCount(kernel.calls)],
    ["sum", formatDuration(kernel.total_ns)],
    ["mean", formatDuration(kernel.mean_ns)],
    ["std", formatDuration(kernel.std_ns)],
    ["min", formatDuration(kernel.min_ns)],
    ["p50", formatDuration(kernel.p50_ns)],
    ["p99", formatDuration(kernel.p99_ns)],
    ["max", formatDuration(kernel.max_ns)],
  ];
  return (
    <Panel title="Chosen kernel" span={12}>
      <p class="fullname">{kernel.name}</p>
      <dl class="facts">
        {facts.map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{value}</dd></div>)}
      </dl>
      {kernel.histogram && <Histogram kernel={kernel} bins={kernel.histogram} />}
    </Panel>
  );
}
