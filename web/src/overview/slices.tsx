import { operationAddress, stretchAddress } from "../address";
import { ChartView, tooltip } from "../chart";
import { durationTick, formatDuration } from "../format";
import { useHasTab } from "../link";
import { Legend, Panel, type Width } from "../panel";
import type { Slices } from "../summary";
import { colour } from "../theme";

// Parts of the time, stacked: step by step, each of which leads to its stretch of the timeline; or operation by operation, each
// of which leads to its calls.
export function SlicesPanel({ slices, span }: { slices: Slices; span: Width }) {
  const leads = useHasTab()("timeline");
  const pick = (index: number) => {
    const stretch = slices.windows[index];
    location.hash = stretch ? stretchAddress(...stretch) : operationAddress({ name: slices.labels[index]!, kind: "scope" });
  };
  const legend = slices.parts.map(({ part, label, total_ns }) => ({ part, label, value: total_ns === null ? undefined : formatDuration(total_ns) }));
  const words = legend.map(({ label, value }) => (value ? `${label} ${value}` : label)).join(", ");
  return (
    <Panel title={slices.title} span={span}>
      <ChartView
        label={`${slices.title}: ${words}`}
        height={190}
        data={slices}
        pick={leads ? pick : undefined}
        config={() => ({
          type: "bar",
          data: {
            labels: slices.labels,
            datasets: slices.parts.map(({ part, label, ns }) => ({
              label,
              data: ns,
              backgroundColor: colour(part),
              categoryPercentage: slices.labels.length > 12 ? 1 : 0.8,
              barPercentage: slices.labels.length > 12 ? 0.94 : 0.8,
              maxBarThickness: 72,
            })),
          },
          options: {
            interaction: { mode: "index", intersect: false },
            plugins: { tooltip: tooltip((ns, label) => `${label} ${formatDuration(ns)}`) },
            scales: {
              x: { stacked: true, grid: { display: false }, ticks: { maxRotation: 0, autoSkipPadding: 12 } },
              y: { stacked: true, ticks: { maxTicksLimit: 5, callback: (ns) => durationTick(Number(ns)) }, border: { display: false } },
            },
          },
        })}
      />
      <Legend items={legend} />
    </Panel>
  );
}
