import type { Fill } from "../classes";
import { formatCount, formatDuration, formatPercent } from "../format";
import { Panel } from "../panel";
import { Histogram } from "./histogram";
import { rateText } from "./rates";
import type { Operation, OperatorTime } from "../summary";

const kMostOperators = 8;

const known = <Value,>(label: string, value: Value | null, text: (value: Value) => string): [string, string][] =>
  value === null ? [] : [[label, text(value)]];

// One kernel, with its whole name, and what launches it.
export function KernelDetails(props: { kernel: Operation; type: string; fill: Fill; operators: OperatorTime[]; choose: (row: OperatorTime) => void }) {
  const { kernel, type, operators } = props;
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
    ...known("TFLOP/s", kernel.tflops, rateText),
    ...known("GB/s", kernel.gb_s, rateText),
    ...known("of arithmetic peak", kernel.peak_pct, formatPercent),
    ...known("of memory bandwidth", kernel.bandwidth_pct, formatPercent),
    ...known("occupancy (estimated)", kernel.occupancy_pct, formatPercent),
    ...known("tensor cores", kernel.tensor_cores, (uses) => (uses ? "yes" : "no")),
  ];
  return (
    <Panel title="Chosen kernel" span={12}>
      <p class="fullname">{kernel.name}</p>
      <dl class="facts">
        {facts.map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{value}</dd></div>)}
      </dl>
      {operators.length > 0 && (
        <div class="links">
          <h3>launched by</h3>
          {operators.slice(0, kMostOperators).map((row) => <button key={row.name} type="button" class="tool" title={row.name} onClick={() => props.choose(row)}>{row.name}</button>)}
          {operators.length > kMostOperators && <span class="quiet">and {formatCount(operators.length - kMostOperators)} more</span>}
        </div>
      )}
      {kernel.histogram && <Histogram kernel={kernel} bins={kernel.histogram} fill={props.fill} />}
    </Panel>
  );
}
