import type { Chart } from "chart.js";
import { useEffect, useRef } from "preact/hooks";
import { ChartView, shorten, tooltip } from "../chart";
import { bytesStep, bytesTick, durationTick, formatBytes, formatDuration } from "../format";
import { colour, type Token } from "../theme";
import { levelAt, type DeviceHistory } from "./block";
import { kOlder, placeOf } from "./words";

export type By = "line" | "role";

export interface Layer {
  label: string;
  token: Token;
  opacity: number;
  bytes: (number | null)[];
}

const kColours: Token[] = ["k-gemm", "k-reduce", "k-attention", "k-elementwise", "k-index", "k-convolution", "k-optimizer", "k-moe", "k-layout"];
const kRoleColours: Record<string, Token> = {
  weights: "k-gemm", "optimizer state": "k-optimizer", gradients: "k-index", activations: "k-attention", temporary: "k-elementwise", other: "k-serving",
};

const kLeastShare = 0.005; // of the peak: what never has more is a line that nobody sees

// From the bottom up. What is reserved and unused lies on top.
export function layersOf(device: DeviceHistory, by: By): Layer[] {
  const layer = (label: string, token: Token, bytes: (number | null)[], opacity = 0.85): Layer => ({ label, token, bytes, opacity });
  const least = levelAt(device, device.peak) * kLeastShare;
  const [large, small] = [true, false].map((isLarge) => device.of_owners.filter((bytes) => isLarge === Math.max(...bytes) >= least)) as [number[][], number[][]];
  const layers =
    by === "role"
      ? device.of_roles.map(({ role, bytes }) => layer(role, kRoleColours[role] ?? "k-serving", bytes))
      : [
          layer(kOlder, "idle", device.older),
          ...large.map((bytes, at) => layer(placeOf(device.owners[at]!), kColours[at % kColours.length]!, bytes)),
          layer("all others", "k-serving", device.of_others.map((bytes, at) => small.reduce((sum, one) => sum + one[at]!, bytes))),
        ];
  if (device.unused) {
    layers.push(layer("holes in segments in use", "ink-3", device.unused.holes, 0.4), layer("free segments", "ink-3", device.unused.free_segments, 0.16));
  }
  if (device.spare.length > 0) layers.push(layer("reserved, not allocated", "ink-3", device.spare, 0.14));
  return layers.filter(({ bytes }) => bytes.some((each) => each !== null && each > 0));
}

const withOpacity = (rgb: string, opacity: number): string => rgb.replace("rgb(", "rgba(").replace(")", `, ${opacity})`);

interface Props {
  device: DeviceHistory;
  layers: Layer[];
  end: number; // of the recording
  moment: number;
  choose: (ns: number) => void;
}

// Who had how much over time, stacked; a click chooses a moment.
export function StackedChart({ device, layers, end, moment, choose }: Props) {
  const marked = useRef(0);
  const drawn = useRef<Chart | null>(null);
  marked.current = device.times_ns[moment]!;
  useEffect(() => drawn.current?.draw(), [moment]);
  const times = device.times_ns;
  const most = Math.max(1, ...times.map((_, at) => layers.reduce((sum, { bytes }) => sum + (bytes[at] ?? 0), 0)));
  return (
    <div class="stacked">
      <ChartView
        label={`Memory by owner over time: ${formatBytes(Math.max(...times.map((_, at) => levelAt(device, at))))} allocated at most; ${layers.map(({ label }) => label).join(", ")}`}
        height={300}
        data={layers}
        config={() => ({
          type: "line",
          data: {
            datasets: layers.map((layer, index) => ({
              label: layer.label,
              data: [...times.map((x, at) => ({ x, y: layer.bytes[at] ?? 0 })), { x: end, y: layer.bytes.at(-1) ?? 0 }],
              backgroundColor: withOpacity(colour(layer.token), layer.opacity),
              borderWidth: 0,
              pointRadius: 0,
              stepped: true,
              fill: index === 0 ? "origin" : "-1",
            })),
          },
          options: {
            parsing: false,
            interaction: { mode: "index", axis: "x", intersect: false },
            onClick: (event, _, chart) => {
              const ns = chart.scales["x"]?.getValueForPixel(event.x ?? 0);
              if (ns !== undefined) choose(ns);
            },
            plugins: {
              tooltip: {
                ...tooltip(() => ""),
                filter: (item) => Number(item.parsed.y) > 0,
                itemSort: (a, b) => Number(b.parsed.y) - Number(a.parsed.y),
                callbacks: {
                  label: (item) => ` ${shorten(item.dataset.label ?? "", 44)} ${formatBytes(Number(item.parsed.y))}`,
                  title: (items) => formatDuration(Number(items[0]?.parsed.x ?? 0)),
                },
              },
            },
            scales: {
              x: { type: "linear", min: 0, max: Math.max(end, 1), grid: { display: false }, ticks: { maxRotation: 0, maxTicksLimit: 9, callback: (ns) => durationTick(Number(ns)) } },
              y: { stacked: true, beginAtZero: true, border: { display: false }, ticks: { stepSize: bytesStep(most, 5), callback: (bytes) => bytesTick(Number(bytes)) } },
            },
          },
          plugins: [{
            id: "moment",
            afterInit: (chart) => { drawn.current = chart; },
            afterDestroy: () => { drawn.current = null; },
            afterDatasetsDraw: ({ ctx, chartArea, scales }) => {
              const x = Math.round(scales["x"]!.getPixelForValue(marked.current)) + 0.5;
              ctx.save();
              ctx.strokeStyle = colour("ink");
              ctx.setLineDash([4, 3]);
              ctx.beginPath();
              ctx.moveTo(x, chartArea.top);
              ctx.lineTo(x, chartArea.bottom);
              ctx.stroke();
              ctx.restore();
            },
          }],
        })}
      />
    </div>
  );
}
