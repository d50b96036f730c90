import {
  ArcElement, BarController, BarElement, CategoryScale, Chart, DoughnutController, Filler, LinearScale,
  LineController, LineElement, LogarithmicScale, PointElement, ScatterController, Tooltip, type ChartConfiguration,
} from "chart.js";
import { useEffect, useRef, useState } from "preact/hooks";
import { SaveButton, saveDrawing } from "./save";
import { colour, usePaper, useScheme } from "./theme";

Chart.register(
  ArcElement, BarController, BarElement, CategoryScale, DoughnutController, Filler, LinearScale, LineController,
  LineElement, LogarithmicScale, PointElement, ScatterController, Tooltip,
);
Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
Chart.defaults.font.size = 11.5;

const kMostSteps = 100; // of an arrow key, from one end to the other

// A chart of Chart.js that follows the colours of the page. `config` is asked again whenever they or
// `data` change. It fills its panel, `height` at least. `label` says in words what the chart shows: up to a colon, its name.
// Arrows go along it and say what is there. `pick` is called with the place of what is clicked among the labels, or where Enter is pressed.
export function ChartView(props: { label: string; height: number; data: unknown; config: () => ChartConfiguration; pick?: ((index: number) => void) | undefined }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [said, setSaid] = useState("");
  const scheme = useScheme();
  const paper = usePaper();
  useEffect(() => {
    if (!canvas.current) return;
    Chart.defaults.color = colour("ink-2");
    Chart.defaults.borderColor = colour("line");
    const chart = new Chart(canvas.current, props.config());
    return () => chart.destroy();
  }, [scheme, paper, props.data]);
  const drawn = () => (canvas.current ? Chart.getChart(canvas.current) : undefined);
  const pick = (event: MouseEvent) => {
    const chart = drawn();
    const found = chart?.getElementsAtEventForMode(event, "index", { axis: chart.options.indexAxis ?? "x", intersect: false }, false)[0];
    if (found) props.pick?.(found.index);
  };
  const step = (event: KeyboardEvent) => {
    const chart = drawn();
    if (!chart) return;
    const count = chart.data.labels?.length || chart.data.datasets[0]?.data.length || 0;
    const now = chart.getActiveElements()[0]?.index ?? -1;
    if (event.key === "Enter" && now >= 0) return props.pick?.(now);
    const by = now < 0 ? 1 : Math.ceil(count / kMostSteps);
    const next = event.key === "ArrowRight" ? now + by : event.key === "ArrowLeft" ? now - by : NaN;
    if (Number.isNaN(next)) return;
    event.preventDefault();
    const index = Math.max(0, Math.min(count - 1, next));
    // Of series with other points, such as the lines of a roofline, none is at the same place.
    const { length } = chart.data.datasets[0]?.data ?? [];
    const elements = chart.data.datasets.flatMap(({ data }, datasetIndex) => (data.length === length ? [{ datasetIndex, index }] : []));
    chart.setActiveElements(elements);
    chart.tooltip?.setActiveElements(elements, { x: 0, y: 0 });
    chart.update();
    const { title = [], body = [] } = chart.tooltip ?? {};
    setSaid([...title, ...body.flatMap(({ lines }) => lines)].join(", "));
  };
  const name = props.label.split(":")[0]!.toLowerCase();
  return (
    <div class={props.pick ? "chart pickable" : "chart"} style={{ minHeight: `${props.height}px` }}>
      <canvas ref={canvas} role="img" aria-label={props.label} onClick={pick} tabIndex={0} onKeyDown={step} />
      <span class="unseen" aria-live="polite">{said}</span>
      <SaveButton kind="PNG" what={name} save={() => canvas.current && saveDrawing(name, canvas.current)} />
    </div>
  );
}

// What the tooltips of all charts look like.
export const tooltip = (label: (value: number, series: string) => string) => ({
  displayColors: true,
  boxPadding: 4,
  backgroundColor: colour("panel"),
  borderColor: colour("line"),
  borderWidth: 1,
  titleColor: colour("ink"),
  bodyColor: colour("ink-2"),
  callbacks: {
    label: (item: { raw: unknown; dataset: { label?: string | undefined }; label: string }) => {
      const raw = item.raw;
      const value = typeof raw === "number" ? raw : Number((raw as { y?: number } | null)?.y ?? 0);
      return ` ${label(value, item.dataset.label ?? item.label)}`;
    },
  },
});

// Long names in charts are cut; the tables have them whole.
export const shorten = (name: string, length: number): string =>
  name.length <= length ? name : `${name.slice(0, length - 1)}…`;
