import type { ChartConfiguration } from "chart.js";
import { useMemo } from "preact/hooks";
import { ChartView, tooltip } from "../chart";
import { fillOfClass } from "../classes";
import { formatCount, formatDuration } from "../format";
import { Panel } from "../panel";
import type { Efficiency, Peaks, ShapedWork } from "../summary";
import { DataTable, type Column } from "../table";
import { colour } from "../theme";
import { achievedText, ofPeakText, rateText } from "./rates";

const kRoofs: { key: keyof Peaks; label: string }[] = [
  { key: "fp32_tflops", label: "FP32" }, { key: "tf32_tflops", label: "TF32" }, { key: "fp16_tflops", label: "16 bit" }, { key: "fp8_tflops", label: "FP8" },
];
const kMostPoints = 120;

// How well the GPU was used, by operation and shape; or what is missing to know it.
export function EfficiencyPanel({ efficiency, ofClass }: { efficiency: Efficiency; ofClass: string }) {
  const rows = useMemo(() => efficiency.work.filter((row) => !ofClass || row.class === ofClass), [efficiency, ofClass]);
  if (efficiency.work.length === 0 && efficiency.text.length === 0) return null;
  return (
    <>
      <Panel title="How well the GPU was used" note={efficiency.device_name ?? undefined} span={12}>
        {efficiency.text.map((sentence) => <p key={sentence} class="said">{sentence}</p>)}
        {rows.length > 0 && <Roofline rows={rows} peaks={efficiency.peaks} />}
      </Panel>
      {rows.length > 0 && (
        <Panel title="Operations by shape" note="least FLOP and bytes by shapes and types" span={12}>
          <DataTable
            label={{ one: "operation", many: "operations" }} rows={rows} columns={kColumns} name={(row) => `${row.operation} ${row.shapes} ${row.kernel}`}
            sort={{ column: 2, down: true }} height={420}
          />
        </Panel>
      )}
    </>
  );
}

const kColumns: Column<ShapedWork>[] = [
  { label: "operation and shapes", value: (row) => row.operation, saved: (row) => `${row.operation} [${row.shapes}]`, text: (row) => `${row.operation} [${row.shapes}]` },
  { label: "calls", value: (row) => row.calls, text: (row) => formatCount(row.calls), width: 70 },
  { label: "GPU time", value: (row) => row.time_ns, text: (row) => formatDuration(row.time_ns), unit: "ns", width: 90 },
  { label: "TFLOP/s", value: (row) => row.tflops, text: (row) => rateText(row.tflops), width: 84 },
  { label: "GB/s", value: (row) => row.gb_s, text: (row) => rateText(row.gb_s), width: 84 },
  { label: "of peak", value: (row) => row.efficiency_pct, text: ofPeakText, unit: "%", width: 92, narrow: true },
];

interface Point {
  x: number;
  y: number;
  row: ShapedWork;
}

// FLOP per byte against TFLOP/s, both logarithmic: no work can be above the roofs.
function Roofline({ rows, peaks }: { rows: ShapedWork[]; peaks: Peaks }) {
  const points: Point[] = rows.filter((row) => row.flop > 0 && row.bytes > 0).slice(0, kMostPoints)
    .map((row) => ({ x: row.flop / row.bytes, y: row.tflops, row }));
  if (points.length === 0) return null;
  const xs = points.map((point) => point.x);
  const from = 10 ** Math.floor(Math.log10(Math.min(...xs)));
  const to = 10 ** Math.ceil(Math.log10(Math.max(...xs, 1000)));
  const longest = Math.max(...points.map((point) => point.row.time_ns));
  const config = (): ChartConfiguration => ({
    type: "scatter",
    data: {
      datasets: [
        {
          label: "operations", data: points,
          pointBackgroundColor: points.map((point) => colour(fillOfClass(point.row.class, "gpu"))),
          pointBorderColor: colour("panel"), pointBorderWidth: 1,
          pointRadius: points.map((point) => 3 + 9 * Math.sqrt(point.row.time_ns / longest)),
          pointHoverRadius: points.map((point) => 5 + 9 * Math.sqrt(point.row.time_ns / longest)),
        },
        ...roofs(peaks, from, to),
      ],
    },
    options: {
      plugins: {
        tooltip: {
          ...tooltip(() => ""),
          filter: (item) => item.datasetIndex === 0,
          callbacks: { label: (item) => wordsOf((item.raw as Point).row) },
        },
      },
      scales: {
        x: { type: "logarithmic", min: from, max: to, title: { display: true, text: "FLOP per byte" }, ticks: { callback: decades, maxRotation: 0 }, grid: { color: colour("line") } },
        y: { type: "logarithmic", title: { display: true, text: "TFLOP/s" }, ticks: { callback: decades }, grid: { color: colour("line") } },
      },
    },
  });
  return (
    <>
      <ChartView
        label={`Roofline: ${points.length} operations by FLOP per byte and TFLOP/s; ${peaks.memory_gb_s ? `memory ${rateText(peaks.memory_gb_s)} GB/s` : "peaks are not known"}`}
        height={360} data={[rows, peaks]} config={config}
      />
      <p class="quiet">Area is GPU time, colour is the class. Lines are what memory ({peaks.memory_gb_s ? `${rateText(peaks.memory_gb_s)} GB/s` : "unknown"}) and arithmetic allow{roofWords(peaks)}.</p>
    </>
  );
}

const roofWords = (peaks: Peaks): string =>
  kRoofs.flatMap(({ key, label }) => (peaks[key] === null ? [] : [`${label} ${rateText(peaks[key])} TFLOP/s`])).map((text, index) => (index === 0 ? `: ${text}` : `, ${text}`)).join("");

// The memory's slope, up to the level of each kind of arithmetic.
function roofs(peaks: Peaks, from: number, to: number) {
  const bandwidth = peaks.memory_gb_s;
  if (bandwidth === null) return [];
  const slope = (intensity: number) => (bandwidth * intensity) / 1000; // TFLOP/s
  return kRoofs.flatMap(({ key, label }) => {
    const peak = peaks[key];
    if (peak === null) return [];
    const ridge = (peak * 1000) / bandwidth;
    const data = [{ x: from, y: slope(from) }, { x: ridge, y: peak }, { x: Math.max(to, ridge), y: peak }];
    return [{
      label, type: "line" as const, data, borderColor: colour("ink-3"), borderWidth: 1.2, pointRadius: 0, pointHitRadius: 0, borderDash: key === "fp32_tflops" ? [4, 3] : [],
    }];
  });
}

const wordsOf = (row: ShapedWork): string[] => [
  ` ${row.operation} [${row.shapes}]`,
  ` ${achievedText(row)}, ${ofPeakText(row)}${row.arithmetic ? ` (${row.arithmetic})` : ""}`,
  ` ${formatDuration(row.time_ns)} in ${formatCount(row.calls)} calls`,
];

const decades = (value: string | number): string => {
  const power = Math.log10(Number(value));
  return Math.abs(power - Math.round(power)) < 1e-9 ? String(Number(Number(value).toPrecision(1))) : "";
};
