import { ChartView, tooltip } from "../chart";
import type { Fill } from "../classes";
import { formatDuration, formatPlural, tickText } from "../format";
import type { Operation } from "../summary";
import { colour } from "../theme";

// How many calls took how long; each bin reaches the same ratio further than the one before.
export function Histogram({ kernel, bins, fill }: { kernel: Operation; bins: number[]; fill: Fill }) {
  const least = Math.max(kernel.min_ns, 1);
  const edge = (index: number) => least * (kernel.max_ns / least) ** (index / bins.length);
  return (
    <ChartView
      label={`Calls by duration, from ${formatDuration(kernel.min_ns)} to ${formatDuration(kernel.max_ns)}`}
      height={150}
      data={kernel}
      config={() => ({
        type: "bar",
        data: {
          labels: bins.map((_, index) => tickText(edge(index), edge(index + 1) - edge(index))), // so fine that no two are the same
          datasets: [{ label: "calls", data: bins, backgroundColor: colour(fill), categoryPercentage: 1, barPercentage: 0.94 }],
        },
        options: {
          plugins: { tooltip: tooltip((calls) => `${formatPlural(calls, "call", "calls")} of this long or up to the next bin`) },
          scales: {
            x: { grid: { display: false }, ticks: { maxRotation: 0, autoSkipPadding: 14 } },
            y: { border: { display: false }, ticks: { maxTicksLimit: 4, precision: 0 } },
          },
        },
      })}
    />
  );
}
