import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatClock } from "../format";
import { colour, useScheme, type Token } from "../theme";
import type { Line } from "./thin";

// Where a trend gets its line: the times at its edges, which costs nothing to ask, and as many points between two times as
// `pixels` can show. A source that goes on calls back with each sample, until the returned function is called.
export interface TrendSource {
  span: () => { from: number; to: number };
  line: (from: number, to: number, pixels: number) => Line;
  onChange?: (callback: () => void) => () => void;
}

interface Props {
  label: string; // in words: "Utilisation of GPU 0"
  source: TrendSource;
  top: number; // it begins at 0
  limit: number | null; // a dashed line
  tone: Token;
  text: (value: number) => string;
  tick: (value: number) => string;
  hasClock: boolean; // times below it; one per column of trends is enough
}

const kFont = "11px system-ui, sans-serif";
const kClockHeight = 18;
const kClockRoom = 26; // what half of a time needs; one that would be cut off at the right edge is left out
const kTickWidth = 50;
const kKeySteps = 100; // of an arrow key, from one end to the other

// One figure over time. All trends of a page show the same instant under the pointer. It is drawn when at least half a pixel
// is new and it is in view, so that hours of history cost no more than minutes, and sixty of them no more than those seen.
export function Trend(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const reading = useRef<HTMLOutputElement>(null);
  const now = useRef(props); // what the plot asks, without being made again
  now.current = props;
  const plot = useRef<Plot | null>(null);
  const scheme = useScheme();

  useEffect(() => {
    const made = new Plot(box.current!, reading.current!, now);
    plot.current = made;
    return () => made.destroy();
  }, [scheme, props.hasClock]);
  useEffect(() => props.source.onChange?.(() => plot.current?.draw(false)), [props.source]);
  useEffect(() => plot.current?.draw(true), [props.source, props.top, props.limit, props.tone]);

  return (
    <div class={props.hasClock ? "trend with-clock" : "trend"}>
      <div ref={box} role="img" aria-label={props.label} tabIndex={0} onKeyDown={(event) => plot.current?.key(event)} />
      <output ref={reading} />
    </div>
  );
}

class Plot {
  private readonly plot: uPlot;
  private readonly sizes: ResizeObserver;
  private readonly sights: IntersectionObserver;
  private readonly tones = new Map<Token, string>();
  private isInView = false;
  private drawnTo = -Infinity;

  constructor(private readonly box: HTMLElement, private readonly reading: HTMLElement, private readonly now: { current: Props }) {
    this.plot = new uPlot(this.options(), [[], []], box);
    this.sizes = new ResizeObserver(() => {
      this.plot.setSize({ width: box.clientWidth, height: box.clientHeight });
      this.draw(true);
    });
    this.sizes.observe(box);
    this.sights = new IntersectionObserver((seen) => {
      this.isInView = seen.at(-1)?.isIntersecting ?? false;
      this.draw(false);
    });
    this.sights.observe(box);
  }

  destroy(): void {
    this.sizes.disconnect();
    this.sights.disconnect();
    this.plot.destroy();
  }

  draw(isForced: boolean): void {
    if (!this.isInView) {
      if (isForced) this.drawnTo = -Infinity;
      return;
    }
    const { source, label, text } = this.now.current;
    const pixels = Math.max(1, this.plot.bbox.width / devicePixelRatio);
    const { from, to } = source.span();
    const halfPixel = (to - from) / pixels / 2;
    if (!isForced && Math.abs(to - this.drawnTo) < halfPixel) return;
    this.drawnTo = to;
    const { times, values, least, most } = source.line(from, to, pixels);
    this.plot.batch(() => {
      this.plot.setData([times, values], false);
      this.plot.setScale("x", { min: from, max: to });
    });
    const range = Number.isNaN(most) ? "not known" : `${text(least)} to ${text(most)}`;
    this.box.setAttribute("aria-label", `${label}, ${formatClock(from)} to ${formatClock(to)}: ${range}`);
  }

  // Arrows move what a pointer would.
  key(event: KeyboardEvent): void {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const { width } = this.plot.over.getBoundingClientRect();
    const now = this.plot.cursor.left ?? -1;
    const left = now < 0 ? (by > 0 ? 0 : width - 1) : Math.max(0, Math.min(width - 1, now + (by * width) / kKeySteps));
    this.plot.setCursor({ left, top: 1 });
  }

  private tone(token: Token): string {
    let found = this.tones.get(token);
    if (!found) {
      found = colour(token);
      this.tones.set(token, found);
    }
    return found;
  }

  private options(): uPlot.Options {
    const { hasClock } = this.now.current;
    const faint = () => this.tone(this.now.current.tone).replace("rgb(", "rgba(").replace(")", ", 0.12)");
    return {
      width: Math.max(1, this.box.clientWidth),
      height: Math.max(1, this.box.clientHeight),
      ms: 1,
      padding: [6, 1, hasClock ? 0 : 4, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 }, sync: { key: "trends", scales: ["x", null] } },
      scales: {
        x: { time: true, range: (_, min, max) => [min, max] },
        y: { range: () => [0, this.now.current.top] },
      },
      axes: [
        {
          show: hasClock,
          size: kClockHeight,
          gap: 2,
          space: 70,
          font: kFont,
          stroke: () => this.tone("ink-2"),
          grid: { show: false },
          ticks: { show: false },
          values: (plot, splits, _axis, _space, step) =>
            splits.map((time) => (plot.valToPos(time, "x") > plot.width - kTickWidth - kClockRoom ? "" : formatClock(time).slice(0, step < 60_000 ? 8 : 5))),
        },
        {
          size: kTickWidth,
          gap: 4,
          font: kFont,
          stroke: () => this.tone("ink-2"),
          grid: { stroke: () => this.tone("line"), width: 1 },
          ticks: { show: false },
          splits: () => [0, this.now.current.top / 2, this.now.current.top],
          values: (_, splits) => splits.map((value) => (value === 0 ? "" : this.now.current.tick(value))),
        },
      ],
      series: [
        {},
        { stroke: () => this.tone(this.now.current.tone), fill: faint, width: 1.5, points: { show: false } },
      ],
      hooks: { draw: [() => this.drawLimit()], setCursor: [() => this.read()] },
    };
  }

  private drawLimit(): void {
    const { limit } = this.now.current;
    if (limit === null) return;
    const { ctx, bbox } = this.plot;
    const y = Math.round(this.plot.valToPos(limit, "y", true)) + 0.5;
    ctx.save();
    ctx.strokeStyle = this.tone("ink-2");
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.restore();
  }

  private read(): void {
    const at = this.plot.cursor.idx;
    const time = at === null || at === undefined ? undefined : this.plot.data[0][at];
    const value = at === null || at === undefined ? undefined : this.plot.data[1]![at];
    this.reading.textContent =
      time === undefined || value === null || value === undefined ? "" : `${this.now.current.text(value)} · ${formatClock(time)}`;
  }
}
