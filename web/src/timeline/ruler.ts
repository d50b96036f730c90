import { tickText } from "../format";
import type { Palette } from "../canvas/palette";
import { kFont } from "../canvas/painter";
import { pixelOf, scaleOf, type View } from "../canvas/view";

// The scale of time over the timeline, and its lines through it.

// A round step (1, 2 or 5 times a power of ten) that leaves room for the text.
export function tickStep(view: View): number {
  const least = 96 / scaleOf(view);
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least) ?? power * 10;
}

export function drawTicks(
  context: CanvasRenderingContext2D, palette: Palette, view: View, left: number, top: number, height: number, bottom: number,
): void {
  const step = tickStep(view);
  context.font = kFont;
  context.textBaseline = "middle";
  for (let at = Math.ceil(view.begin / step) * step; at <= view.end; at += step) {
    const x = Math.round(left + pixelOf(view, at));
    context.fillStyle = palette.line;
    context.fillRect(x, top + height - 6, 1, bottom - top - height + 6);
    context.fillStyle = palette.ink3;
    context.fillText(tickText(Math.max(0, at), step), x + 4, top + height / 2);
  }
}
