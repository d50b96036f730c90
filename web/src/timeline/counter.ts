import { kFont } from "../canvas/painter";
import { partIndex, type Palette } from "../canvas/palette";
import { pixelOf, type View } from "../canvas/view";
import { formatBytes, formatCount } from "../format";
import type { Counter } from "./decode";
import type { CounterBand } from "./layout";

// What a counter was in a stretch of time.
export interface Level {
  low: number;
  mean: number; // over time
  high: number;
}

type Heights = [low: number, mean: number, high: number]; // in pixels

const areSame = (a: Heights | null, b: Heights | null): boolean =>
  a === b || (a !== null && b !== null && a[0] === b[0] && a[1] === b[1] && a[2] === b[2]);

// A counter as an area up to its mean, with the range from its least to its most around it: a pixel shows all that it was in
// the pixel's time. Stretches of one level are one rectangle, for outlines are slow to fill.
export function drawCounter(
  context: CanvasRenderingContext2D, palette: Palette, band: CounterBand, view: View, left: number, y: number,
): void {
  const { counter, highest, height } = band;
  const pixels = (value: number) => Math.round((highest > 0 ? Math.max(0, value) / highest : 0) * (height - 4));
  const bottom = y + height;
  context.fillStyle = palette.parts[partIndex(counter.unit === "bytes" ? "transfer" : "gpu")]!;
  let before: Heights | null = null;
  let begin = 0;
  const fill = (to: number) => {
    if (!before || to <= begin) return;
    const [low, mean, high] = before;
    const x = left + begin;
    context.globalAlpha = 0.22;
    context.fillRect(x, bottom - mean, to - begin, mean);
    context.globalAlpha = 0.3;
    if (high > low) context.fillRect(x, bottom - high, to - begin, high - low);
    context.globalAlpha = 1;
    context.fillRect(x, bottom - mean - 1, to - begin, 1);
  };
  const levels = new Levels(counter, view);
  for (let pixel = 0; pixel < view.width; ++pixel) {
    const level = levels.at(pixel);
    const now: Heights | null = level && [pixels(level.low), pixels(level.mean), pixels(level.high)];
    if (areSame(now, before)) continue;
    fill(pixel);
    if (now && before && Math.abs(now[1] - before[1]) > 1) { // the step between two levels
      const [down, up] = [Math.min(now[1], before[1]), Math.max(now[1], before[1])];
      context.fillRect(left + pixel, bottom - up - 1, 1, up - down);
    }
    before = now;
    begin = pixel;
  }
  fill(Math.ceil(view.width));
  context.font = kFont;
  context.textBaseline = "middle";
  context.fillStyle = palette.ink2;
  context.fillText(`≤ ${levelText(counter, highest)}`, left + 6, y + 8);
}

// What a counter was within a pixel; null before its first time and after its last.
export const levelAt = (counter: Counter, view: View, pixel: number): Level | null => new Levels(counter, view).at(pixel);

export function levelText({ unit }: Counter, value: number): string {
  if (unit === "bytes") return formatBytes(value);
  const text = Number.isInteger(value) || value >= 100 ? formatCount(value) : value.toFixed(2);
  return unit ? `${text} ${unit}` : text;
}

// Asked for pixels from left to right, it goes through the points once.
class Levels {
  private next: number;
  private readonly end: number;

  constructor(private readonly counter: Counter, private readonly view: View) {
    const { times_ns: times } = counter;
    this.next = firstSeen(times, view.begin);
    this.end = pixelOf(view, times.at(-1)!);
  }

  at(pixel: number): Level | null {
    const { times_ns: times, values, low = values, high = values } = this.counter;
    const perPixel = (this.view.end - this.view.begin) / this.view.width;
    const from = this.view.begin + pixel * perPixel;
    const to = from + perPixel;
    if (to < times[0]! || pixel > this.end) return null;
    while (this.next + 1 < times.length && times[this.next + 1]! <= from) ++this.next;
    const level: Level = { low: Infinity, mean: 0, high: -Infinity };
    let known = 0;
    for (let i = this.next; i < times.length && times[i]! < to; ++i) {
      const end = i + 1 < times.length ? times[i + 1]! : to;
      const seen = Math.min(to, end) - Math.max(from, times[i]!);
      level.low = Math.min(level.low, low[i]!);
      level.high = Math.max(level.high, high[i]!);
      level.mean += values[i]! * Math.max(0, seen);
      known += Math.max(0, seen);
    }
    if (level.high === -Infinity) return null;
    level.mean = known > 0 ? level.mean / known : values[this.next]!;
    return level;
  }
}

// The last point at or before a time: its value holds there.
function firstSeen(times: number[], at: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
