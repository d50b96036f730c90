import type { Palette } from "../canvas/palette";
import { kFont } from "../canvas/painter";
import { pixelOf, type View } from "../canvas/view";
import { formatBytes, formatCount } from "../format";
import type { Band } from "./layout";

type CounterBand = Extract<Band, { kind: "counter" }>;

// A counter as an area of steps: each value holds until the next.
export function drawCounter(
  context: CanvasRenderingContext2D, palette: Palette, band: CounterBand, view: View, left: number, y: number,
): void {
  const { counter, highest, height } = band;
  const { times_ns: times, values } = counter;
  const bottom = y + height;
  const level = (value: number) => bottom - (highest > 0 ? Math.max(0, value) / highest : 0) * (height - 4);
  context.beginPath();
  context.moveTo(left + pixelOf(view, times[0]!), bottom);
  for (let i = 0; i < times.length; ++i) {
    const x = left + pixelOf(view, times[i]!);
    if (i > 0) context.lineTo(x, level(values[i - 1]!));
    context.lineTo(x, level(values[i]!));
  }
  context.lineTo(left + pixelOf(view, times.at(-1)!), bottom);
  const colour = palette.parts[counter.unit === "bytes" ? 2 : 0]!;
  context.fillStyle = colour;
  context.globalAlpha = 0.22;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.stroke();
  context.font = kFont;
  context.textBaseline = "middle";
  context.fillStyle = palette.ink2;
  const text = counter.unit === "bytes" ? formatBytes(highest) : formatCount(highest);
  context.fillText(`≤ ${text}${counter.unit === "waiting" ? " waiting" : ""}`, left + 6, y + 8);
}
