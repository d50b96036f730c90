import { partIndex, type Palette } from "../canvas/palette";
import { kFont } from "../canvas/painter";
import { pixelOf, type View } from "../canvas/view";
import { formatBytes, formatCount } from "../format";
import type { Band } from "./layout";

type CounterBand = Extract<Band, { kind: "counter" }>;

// A counter as an area of steps: each value holds until the next. A pixel shows the highest of the
// values in it; stretches of one level are one rectangle, for outlines are slow to fill.
export function drawCounter(
  context: CanvasRenderingContext2D, palette: Palette, band: CounterBand, view: View, left: number, y: number,
): void {
  const { counter, highest, height } = band;
  const { times_ns: times, values } = counter;
  const level = (value: number) => Math.round((highest > 0 ? Math.max(0, value) / highest : 0) * (height - 4));
  const colour = palette.parts[partIndex(counter.unit === "bytes" ? "transfer" : "gpu")]!;
  context.fillStyle = colour;
  let before = 0; // the level that the last stretch left
  const fill = (from: number, to: number, tall: number) => {
    if (to <= from) return;
    context.globalAlpha = 0.22;
    context.fillRect(left + from, y + height - tall, to - from, tall);
    context.globalAlpha = 1;
    context.fillRect(left + from, y + height - tall - 1, to - from, 1);
    context.fillRect(left + from, y + height - Math.max(tall, before) - 1, 1, Math.abs(tall - before) + 1);
    before = tall;
  };
  let begin = 0; // of the stretch that is gathered, in pixels
  let tall = -1; // its level; none yet
  for (let i = firstSeen(times, view.begin); i < times.length && times[i]! < view.end; ++i) {
    const pixel = Math.max(0, Math.floor(pixelOf(view, times[i]!)));
    const value = level(values[i]!);
    if (pixel === begin && tall >= 0) {
      tall = Math.max(tall, value);
      continue;
    }
    if (tall >= 0) fill(begin, Math.max(pixel, begin + 1), tall);
    begin = pixel;
    tall = value;
  }
  const last = Math.min(view.width, Math.ceil(pixelOf(view, times.at(-1)!)));
  if (tall >= 0) fill(begin, Math.max(begin + 1, last), tall);
  context.font = kFont;
  context.textBaseline = "middle";
  context.fillStyle = palette.ink2;
  const text = counter.unit === "bytes" ? formatBytes(highest) : formatCount(highest);
  context.fillText(`≤ ${text}${counter.unit === "waiting" ? " waiting" : ""}`, left + 6, y + 8);
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
