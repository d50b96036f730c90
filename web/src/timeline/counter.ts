import { partIndex, type Palette } from "../canvas/palette";
import type { View } from "../canvas/view";
import { formatBytes, formatCount } from "../format";
import type { Counter } from "./decode";
import type { CounterBand } from "./layout";
import { Levels } from "./levels";

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
  context.fillStyle = palette.parts[partIndex(counter.unit === "bytes" ? "transfer" : "gpu")]!.shades[0]!;
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
}

export function levelText({ unit }: Counter, value: number): string {
  if (unit === "bytes") return formatBytes(value);
  const text = Number.isInteger(value) || value >= 100 ? formatCount(value) : value.toFixed(2);
  return unit ? `${text} ${unit}` : text;
}
