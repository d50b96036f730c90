import { operationAddress } from "../address";
import { ChartView, shorten, tooltip } from "../chart";
import { durationTick, formatCount, formatDuration, formatPlural } from "../format";
import { useHasTab } from "../link";
import { Panel, type Width } from "../panel";
import type { Scope } from "../summary";
import { colour } from "../theme";

const kBars = 12;
const kLetters = 22;

// How long a call of each scope takes on average, and how often it is called: which of the two makes it costly.
export function CallsChart({ scopes, span }: { scopes: Scope[]; span: Width }) {
  const shown = scopes.filter((scope) => scope.mean_ns !== null).slice(0, kBars);
  if (shown.length === 0) return null;
  const leads = useHasTab()("timeline");
  const pick = (index: number) => {
    const scope = shown[index];
    if (scope) location.hash = operationAddress({ name: scope.name, kind: "scope" });
  };
  const words = shown.map((scope) => `${scope.name} ${formatDuration(scope.mean_ns!)}, ${formatPlural(scope.calls, "call", "calls")}`).join("; ");
  return (
    <Panel title="Mean time and calls" note="of each operation" span={span}>
      <ChartView
        label={`Mean time and calls: ${words}`}
        height={60 + 34 * shown.length}
        data={scopes}
        pick={leads ? pick : undefined}
        config={() => ({
          type: "bar",
          data: {
            labels: shown.map((scope) => shorten(scope.name, kLetters)),
            datasets: [
              { label: "mean time", data: shown.map((scope) => scope.mean_ns), xAxisID: "mean", backgroundColor: colour("gpu"), maxBarThickness: 14 },
              { label: "calls", data: shown.map((scope) => scope.calls), xAxisID: "calls", backgroundColor: colour("ink-3"), maxBarThickness: 14 },
            ],
          },
          options: {
            indexAxis: "y",
            interaction: { mode: "index", intersect: false, axis: "y" },
            plugins: { tooltip: tooltip((value, label) => (label === "calls" ? formatPlural(value, "call", "calls") : `${formatDuration(value)} on average`)) },
            scales: {
              y: { grid: { display: false } },
              mean: { axis: "x", position: "bottom", beginAtZero: true, border: { display: false }, ticks: { maxTicksLimit: 5, callback: (ns) => durationTick(Number(ns)) } },
              calls: { axis: "x", position: "top", beginAtZero: true, border: { display: false }, grid: { display: false }, ticks: { maxTicksLimit: 5, precision: 0, callback: (count) => formatCount(Number(count)) } },
            },
          },
        })}
      />
      <div class="legend"><span><i class="fill gpu" />mean time, below</span><span><i class="fill calls" />calls, above</span></div>
    </Panel>
  );
}
