import type { Palette } from "../canvas/palette";
import type { Timeline } from "./decode";
import { kRowHeight } from "./layout";

// From a launch to what it launched; or from a forward operation to its backward one.
export interface Link {
  from: number;
  to: number;
}

export interface Place {
  begin: number;
  end: number;
  top: number;
}

const kMostArrows = 500;
const kFew = 24; // more are drawn faintly, without heads

// The launches of a span, both ways: what launched it, or what it launched.
export function launchesOf(timeline: Timeline, span: number): Link[] {
  const { launch } = timeline;
  if (launch[span]! >= 0) return [{ from: launch[span]!, to: span }];
  const links: Link[] = [];
  for (let work = 0; work < launch.length && links.length < kMostArrows; ++work) {
    if (launch[work] === span) links.push({ from: span, to: work });
  }
  return links;
}

// What else a tracer linked it with, both ways.
export const linksOf = (timeline: Timeline, span: number): Link[] =>
  timeline.links.filter(({ from, to }) => from === span || to === span).slice(0, kMostArrows);

export function drawArrows(
  context: CanvasRenderingContext2D, palette: Palette, links: Link[], place: (span: number) => Place | null,
): number {
  context.strokeStyle = palette.ink;
  context.fillStyle = palette.ink;
  const isMany = links.length > kFew;
  context.lineWidth = isMany ? 0.8 : 1.4;
  context.globalAlpha = isMany ? 0.35 : 1;
  for (const link of links) {
    const from = place(link.from);
    const to = place(link.to);
    if (!from || !to) continue;
    const x0 = (from.begin + from.end) / 2;
    const below = to.top > from.top;
    const y0 = from.top + (below ? kRowHeight : 0);
    const y1 = to.top + (below ? -1 : kRowHeight + 1);
    const x1 = Math.min(to.begin + 2, (to.begin + to.end) / 2);
    const bend = Math.max(14, Math.abs(y1 - y0) / 2) * (below ? 1 : -1);
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
    context.stroke();
    if (isMany) continue;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 4, y1 - (below ? 7 : -7));
    context.lineTo(x1 + 4, y1 - (below ? 7 : -7));
    context.fill();
  }
  context.globalAlpha = 1;
  return links.length;
}
