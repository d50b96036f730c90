import { ChartView, tooltip } from "../chart";
import { bytesStep, bytesTick, durationTick, formatBytes, formatDuration } from "../format";
import type { MemorySeries, Part } from "../summary";
import { colour, type Token } from "../theme";

// What is only reserved is grey.
const tokenIn = (part: Part) => (series: MemorySeries): Token => (series.what === "reserved" ? "ink-3" : part);

const peakOf = (series: MemorySeries): number => series.bytes.reduce((most, bytes) => Math.max(most, bytes), 0);

// Bytes over time: held until the next event, so the lines are steps.
export function MemoryChart({ series, height, part = "cpu" }: { series: MemorySeries[]; height: number; part?: Part }) {
  const tokenOf = tokenIn(part);
  const words = series.map((line) => `${line.label} at most ${formatBytes(peakOf(line))}`).join(", ");
  const end = Math.max(...series.map((line) => line.times_ns.at(-1) ?? 0), 1);
  return (
    <>
      <ChartView
        label={`Memory over time: ${words}`}
        height={height}
        data={series}
        config={() => ({
          type: "line",
          data: {
            datasets: series.map((line, index) => {
              const lineColour = colour(tokenOf(line));
              return {
                label: line.label,
                data: line.times_ns.map((x, at) => ({ x, y: line.bytes[at] ?? 0 })),
                borderColor: lineColour,
                backgroundColor: lineColour.replace("rgb(", "rgba(").replace(")", ", 0.12)"),
                borderWidth: 1.5,
                pointRadius: line.times_ns.length === 1 ? 3 : 0,
                pointHitRadius: 8,
                stepped: true,
                fill: index === 0,
              };
            }),
          },
          options: {
            parsing: false,
            interaction: { mode: "nearest", axis: "x", intersect: false },
            plugins: {
              tooltip: {
                ...tooltip((bytes, label) => `${label} ${formatBytes(bytes)}`),
                callbacks: {
                  ...tooltip((bytes, label) => `${label} ${formatBytes(bytes)}`).callbacks,
                  title: (items) => formatDuration(Number(items[0]?.parsed.x ?? 0)),
                },
              },
            },
            scales: {
              x: { type: "linear", min: 0, max: end, grid: { display: false }, ticks: { maxRotation: 0, maxTicksLimit: 9, callback: (ns) => durationTick(Number(ns)) } },
              y: { beginAtZero: true, border: { display: false }, ticks: { stepSize: bytesStep(Math.max(...series.map(peakOf)), 5), callback: (bytes) => bytesTick(Number(bytes)) } },
            },
          },
        })}
      />
      <div class="legend">
        {series.map((line) => (
          <span key={line.label}>
            <i style={{ background: `var(--${tokenOf(line)})` }} />
            {line.label} · at most {formatBytes(peakOf(line))}
          </span>
        ))}
      </div>
    </>
  );
}
