import { fit } from "../canvas/painter";
import { formatPlural } from "../format";
import { levelText } from "./counter";
import { bandTop, kRowGap, kRowHeight, type Band, type Layout, type Shown, type TrackBand } from "./layout";
import type { Area } from "./surroundings";

// The column of names, left of the tracks.

export const kPinWidth = 18; // of the column of names, its last pixels
const kNameBegin = 18;
const kLetter = 6.8;

// What a band is called.
export function titleOf(band: Band): string {
  if (band.kind === "counter") return band.counter.name;
  if (band.kind === "path") return band.path.name ? `path · ${band.path.name}` : "critical path";
  if (band.kind === "quiet") return formatPlural(band.tracks.length, "idle thread", "idle threads");
  if (band.kind === "gpu") return band.gpu;
  return band.track.annotations ? `annotations · ${band.track.name}` : band.track.name;
}

function shortTitleOf(band: Exclude<Band, TrackBand>): string {
  if (band.kind === "counter") return band.counter.shortName;
  if (band.kind === "path") return `path ${band.path.shortName}`;
  return band.kind === "gpu" ? band.tracks[0]!.shortGpu! : titleOf(band);
}

// The same in so many letters.
function nameOf(band: Band, letters: number): string {
  if (band.kind !== "track") {
    const title = titleOf(band);
    return title.length > letters ? shortTitleOf(band) : title;
  }
  const { track } = band;
  if (track.annotations && track.gpu === null) return `${track.rank} annotations`.trim(); // above their thread
  if (track.annotations) return `annotations · ${track.shortName}`;
  return track.name.length > letters ? track.shortName : track.name;
}

// ▸ opens, ▾ closes: what is folded away, or could be.
function foldMark(band: Band, shown: Shown): string {
  if (band.kind === "quiet") return shown.quiet ? "▾" : "▸";
  if (band.kind === "gpu") return band.isOpen ? "▾" : "▸";
  if (band.kind !== "track" || band.track.rows < 2) return "";
  return band.rows < band.track.rows ? "▸" : "▾";
}

export function drawNames(area: Area, layout: Layout, shown: Shown): void {
  const { context, palette, left, ruler, height, scrolled } = area;
  context.fillStyle = palette.background;
  context.fillRect(0, ruler, left, height - ruler);
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const pinned of [false, true]) {
    const top = pinned ? ruler : ruler + layout.pinnedHeight;
    const bottom = pinned ? ruler + layout.pinnedHeight : height;
    context.save();
    context.beginPath();
    context.rect(0, top, left, Math.max(0, bottom - top));
    context.clip();
    for (const band of layout.bands) {
      if (band.pinned !== pinned) continue;
      const y = ruler + bandTop(layout, band, scrolled);
      if (y > bottom || y + band.height < top) continue;
      drawName(area, band, y + kRowHeight / 2 + 0.5, shown);
    }
    context.restore();
  }
  context.fillStyle = palette.line;
  context.fillRect(left - 1, 0, 1, height);
  if (layout.pinnedHeight > 0) context.fillRect(0, ruler + layout.pinnedHeight - 2, area.width, 1);
}

function drawName({ context, palette, left }: Area, band: Band, y: number, shown: Shown): void {
  const letters = Math.floor((left - kNameBegin - kPinWidth) / kLetter);
  const isNote = band.kind === "quiet" || (band.kind === "track" && band.track.annotations);
  context.font = `${isNote ? "italic " : ""}12px Inter, system-ui, -apple-system, "Segoe UI", sans-serif`;
  context.fillStyle = palette.ink3;
  context.fillText(foldMark(band, shown), 6, y);
  context.fillStyle = isNote ? palette.ink3 : palette.ink2;
  context.fillText(fit(nameOf(band, letters), letters), kNameBegin, y);
  if (band.kind === "track" && band.hidden > 0 && band.rows > 1) {
    context.fillStyle = palette.ink3;
    context.fillText(fit(`${band.hidden + 1} frames as one`, letters), kNameBegin, y + kRowHeight + kRowGap);
  }
  if (band.kind === "counter") { // its scale, where it covers nothing
    context.fillStyle = palette.ink3;
    context.fillText(fit(`≤ ${levelText(band.counter, band.highest)}`, letters), kNameBegin, y + kRowHeight + kRowGap);
  }
  if ((band.kind === "track" || band.kind === "counter") && band.pinned) drawPin(context, palette.ink3, left - kPinWidth / 2 - 1, y);
}

// A pin, seen from the side.
function drawPin(context: CanvasRenderingContext2D, colour: string, x: number, y: number): void {
  context.fillStyle = colour;
  context.fillRect(x - 3, y - 5, 6, 1.5);
  context.fillRect(x - 2, y - 4, 4, 4);
  context.fillRect(x - 4, y, 8, 1.5);
  context.fillRect(x - 0.5, y + 1, 1, 4);
}
