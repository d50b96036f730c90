import { ChartView, tooltip } from "../chart";
import { durationTick, formatDuration } from "../format";
import { Legend, Panel, type Width } from "../panel";
import type { Part, Slices } from "../summary";
import { colour } from "../theme";

const kParts: { part: Part; label: string; key: "gpu_ns" | "transfer_ns" | "overhead_ns" | "cpu_ns" }[] = [
  { part: "gpu", label: "GPU", key: "gpu_ns" },
  { part: "transfer", label: "transfer", key: "transfer_ns" },
  { part: "overhead", label: "overhead", key: "overhead_ns" },
  { part: "cpu", label: "CPU", key: "cpu_ns" },
];

// GPU, transfer, overhead and CPU, stacked, step by step.
export function SlicesPanel({ slices, span }: { slices: Slices; span: Width }) {
  const total = (key: (typeof kParts)[number]["key"]) => slices[key].reduce((sum, ns) => sum + ns, 0);
  const words = kParts.map(({ label, key }) => `${label} ${formatDuration(total(key))}`).join(", ");
  return (
    <Panel title={slices.title} span={span}>
      <ChartView
        label={`${slices.title}: ${words}`}
        height={190}
        data={slices}
        config={() => ({
          type: "bar",
          data: {
            labels: slices.labels,
            datasets: kParts.map(({ part, label, key }) => ({
              label,
              data: slices[key],
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
      <Legend items={kParts.map(({ part, label, key }) => ({ part, label, value: formatDuration(total(key)) }))} />
    </Panel>
  );
}
