import { pixelOf, type View } from "../canvas/view";
import type { Instant } from "./decode";
import { downOf, kRowHeight, placeOf, type Layout } from "./layout";
import type { Area } from "./surroundings";

// Moments without a duration: a line through the first row of their track, with a head.

const kHead = 4;

// How far below the head of the canvas an instant stands; null where it is scrolled away.
function instantDown(layout: Layout, scrolled: number, { track }: Instant): number | null {
  const place = placeOf(layout, track.firstRow);
  if (!place) return null;
  const down = downOf(layout, place, scrolled);
  return place.band.pinned || down >= layout.pinnedHeight ? down : null;
}

export function drawInstants({ context, palette, view, left, ruler, height, scrolled }: Area, layout: Layout, instants: Instant[]): number {
  context.fillStyle = palette.ink;
  let drawn = 0;
  const tops = new Map<unknown, number | null>();
  for (const instant of instants) {
    const x = Math.round(left + pixelOf(view, instant.at));
    if (x < left || x > left + view.width) continue;
    if (!tops.has(instant.track)) tops.set(instant.track, instantDown(layout, scrolled, instant));
    const down = tops.get(instant.track);
    if (down == null || ruler + down > height) continue;
    const top = ruler + down;
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

// The one at a place, `down` from the head of the canvas; null where there is none.
export function instantAt(instants: Instant[], layout: Layout, scrolled: number, view: View, x: number, down: number): Instant | null {
  return instants.find((instant) => {
    if (Math.abs(pixelOf(view, instant.at) - x) > kHead) return false;
    const top = instantDown(layout, scrolled, instant);
    return top !== null && down >= top - 3 && down <= top + kRowHeight;
  }) ?? null;
}
