import { kFont } from "../canvas/painter";
import { pixelOf } from "../canvas/view";
import { formatDuration } from "../format";
import type { Track } from "./decode";
import { bandTop, type Band, type Layout } from "./layout";
import type { Range } from "./sums";
import { kMinimap, kRuler, type Area } from "./surroundings";

// What is selected, or being marked.

// The selected range: what is beside it is dimmed, its length stands above it.
export function drawRange(area: Area, layout: Layout, range: Range, tracks: Track[]): void {
  const { context, palette, view, left, ruler, width, height, scrolled } = area;
  const begin = left + Math.max(0, Math.min(view.width, pixelOf(view, range.from)));
  const end = left + Math.max(0, Math.min(view.width, pixelOf(view, range.to)));
  context.fillStyle = palette.background;
  context.globalAlpha = 0.5;
  context.fillRect(left, ruler, begin - left, height - ruler);
  context.fillRect(end, ruler, width - end, height - ruler);
  if (range.tracks) {
    const chosen = new Set(range.tracks.map((index) => tracks[index]));
    for (const band of layout.bands) {
      if (band.kind === "track" && chosen.has(band.track)) continue;
      if (band.kind === "gpu" && band.tracks.some((track) => chosen.has(track))) continue;
      const [top, bottom] = seenOf(layout, band, scrolled, height - ruler);
      if (bottom > top) context.fillRect(begin, ruler + top, end - begin, bottom - top);
    }
  }
  context.globalAlpha = 1;
  context.fillStyle = palette.parts[0]!.shades[0]!;
  if (range.from >= view.begin) context.fillRect(begin - 1, kMinimap, 1.5, height - kMinimap);
  if (range.to <= view.end) context.fillRect(end, kMinimap, 1.5, height - kMinimap);
  drawLength(area, begin, end, formatDuration(range.to - range.from));
}

// The part of a band that is in its region, below the head.
function seenOf(layout: Layout, band: Band, scrolled: number, room: number): [top: number, bottom: number] {
  const top = bandTop(layout, band, scrolled);
  const bottom = Math.min(room, top + band.height);
  return band.pinned ? [top, bottom] : [Math.max(layout.pinnedHeight, top), bottom];
}

// "← 3.2 ms →" on the ruler.
function drawLength({ context, palette }: Area, begin: number, end: number, text: string): void {
  const y = kMinimap + kRuler / 2;
  context.font = kFont;
  const width = context.measureText(text).width + 12;
  const middle = (begin + end) / 2;
  context.fillStyle = palette.parts[0]!.shades[0]!;
  context.fillRect(begin, kMinimap + 1, end - begin, 3);
  context.fillRect(middle - width / 2, kMinimap + 4, width, kRuler - 7);
  context.fillStyle = palette.parts[0]!.letters;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, middle, y + 1);
  context.textAlign = "left";
}

// What is being marked: a stretch of time, between two heights where it is on tracks.
export function drawMark({ context, palette, view, left, height }: Area, [from, to]: [number, number], down: [number, number] | null): void {
  const x = left + pixelOf(view, from);
  const width = Math.max(1, ((to - from) / (view.end - view.begin)) * view.width);
  const [top, bottom] = down ?? [kMinimap, height];
  context.globalAlpha = 0.14;
  context.fillStyle = palette.parts[0]!.shades[0]!;
  context.fillRect(x, top, width, bottom - top);
  context.globalAlpha = 1;
}
