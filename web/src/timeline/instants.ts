import { pixelOf, type View } from "../canvas/view";
import type { Instant } from "./decode";
import { kRowHeight, topOf, type Layout } from "./layout";
import type { Area } from "./surroundings";

// Moments without a duration: a line through the first row of their track, with a head.

const kHead = 4;

export function drawInstants({ context, palette, view, left, ruler, height, scrolled }: Area, layout: Layout, instants: Instant[]): number {
  context.fillStyle = palette.ink;
  let drawn = 0;
  for (const { track, at } of instants) {
    const x = Math.round(left + pixelOf(view, at));
    const top = ruler + topOf(layout, track.firstRow) - scrolled;
    if (x < left || x > left + view.width || top > height || top + kRowHeight < ruler) continue;
    context.fillRect(x, top, 1, kRowHeight);
    context.beginPath();
    context.moveTo(x - kHead, top - 2);
    context.lineTo(x + kHead + 1, top - 2);
    context.lineTo(x + 0.5, top + kHead);
    context.fill();
    ++drawn;
  }
  return drawn;
}

// The one at a place, `down` from the top of the tracks; null where there is none.
export function instantAt(instants: Instant[], layout: Layout, view: View, x: number, down: number): Instant | null {
  for (const instant of instants) {
    const top = topOf(layout, instant.track.firstRow);
    if (down < top - 3 || down > top + kRowHeight) continue;
    if (Math.abs(pixelOf(view, instant.at) - x) <= kHead) return instant;
  }
  return null;
}
