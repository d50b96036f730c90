import type { Palette } from "../canvas/palette";
import type { Timeline } from "./decode";
import { kRowHeight } from "./layout";

// From a launch to what it launched.
export interface Link {
  launch: number;
  work: number;
}

export interface Place {
  begin: number;
  end: number;
  top: number;
}

const kMostArrows = 500;
const kFew = 24; // more are drawn faintly, without heads

// The links of a span, both ways: what launched it, or what it launched.
export function linksOf(timeline: Timeline, span: number): Link[] {
  const { launch } = timeline;
  if (launch[span]! >= 0) return [{ launch: launch[span]!, work: span }];
  const links: Link[] = [];
  for (let work = 0; work < launch.length && links.length < kMostArrows; ++work) {
    if (launch[work] === span) links.push({ launch: span, work });
  }
  return links;
}

export function drawArrows(
  context: CanvasRenderingContext2D, palette: Palette, links: Link[], place: (span: number) => Place,
): number {
  context.strokeStyle = palette.ink;
  context.fillStyle = palette.ink;
  const isMany = links.length > kFew;
  context.lineWidth = isMany ? 0.8 : 1.4;
  context.globalAlpha = isMany ? 0.35 : 1;
  for (const link of links) {
    const from = place(link.launch);
    const to = place(link.work);
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
