import { fit, kFont } from "../canvas/painter";
import type { Palette } from "../canvas/palette";
import { pixelOf, type View } from "../canvas/view";
import type { Timeline } from "./decode";
import { rowOf } from "./stack";

// What stands above the tracks, and the steps.

export const kMinimap = 36;
export const kRuler = 24;
export const kSteps = 18;

// Where a frame is painted, and what is seen there.
export interface Area {
  context: CanvasRenderingContext2D;
  palette: Palette;
  view: View;
  left: number;
  ruler: number;
  width: number;
  height: number;
  scrolled: number;
}

// The rows that hold steps and nothing else.
export function stepRowsOf(timeline: Timeline): Set<number> {
  const { first, label } = timeline.rows;
  const labels = new Set(timeline.steps.map((step) => label[step]!));
  const rows = new Set(timeline.steps.map((step) => rowOf(timeline, step)));
  for (const row of rows) {
    if (!label.subarray(first[row]!, first[row + 1]!).every((each) => labels.has(each))) rows.delete(row);
  }
  return rows;
}

// A line where each step begins.
export function drawStepLines({ context, palette, view, left, ruler, height }: Area, timeline: Timeline): void {
  context.fillStyle = palette.ink3;
  context.globalAlpha = 0.6;
  for (const step of timeline.steps) {
    const x = Math.round(pixelOf(view, timeline.rows.start[step]!));
    if (x >= 0 && x <= view.width) context.fillRect(left + x, ruler, 1, height);
  }
  context.globalAlpha = 1;
}

export function drawStepNames({ context, palette, view, left, ruler, width }: Area, timeline: Timeline): void {
  const { start, length, label } = timeline.rows;
  const top = kMinimap + kRuler;
  if (ruler === top) return;
  context.fillStyle = palette.background;
  context.fillRect(0, top, width, kSteps - 1);
  context.font = kFont;
  context.save();
  context.beginPath();
  context.rect(left, top, view.width, kSteps);
  context.clip();
  for (const step of timeline.steps) {
    const begin = Math.max(0, pixelOf(view, start[step]!));
    const end = Math.min(view.width, pixelOf(view, start[step]! + length[step]!));
    if (end <= begin) continue;
    context.fillStyle = palette.line;
    context.fillRect(left + begin, top, 1, kSteps);
    const name = timeline.names[label[step]!]!;
    const room = Math.floor((end - begin - 8) / 6.7);
    context.fillStyle = palette.ink2;
    context.fillText(fit(room < name.length ? name.slice(name.indexOf("#")) : name, room), left + begin + 5, top + 9);
  }
  context.restore();
}
