import { Painter } from "../canvas/painter";
import type { Palette } from "../canvas/palette";
import type { Limits, View } from "../canvas/view";
import type { Timeline } from "./decode";
import type { Matches } from "./find";

const kMostStrips = 12; // GPUs first

// The whole run in a strip: the work of each stream and the outermost spans of each thread, where matches are, and what is seen
// now. It is drawn once and kept, until colours or sizes change.
export class Minimap {
  private kept: HTMLCanvasElement | null = null;
  private ticks: { of: Matches; at: Uint8Array } | null = null;
  private width = 1;

  constructor(private readonly timeline: Timeline, private readonly fill: (label: number) => number) {}

  forget(): void {
    this.kept = null;
    this.ticks = null;
  }

  valueAt(pixel: number): number {
    return (pixel / this.width) * this.timeline.lengthNs;
  }

  draw(
    context: CanvasRenderingContext2D, palette: Palette, left: number, height: number, view: View, limits: Limits,
    matches: Matches | null,
  ): void {
    this.width = view.width;
    this.kept ??= this.drawn(palette, height, limits);
    context.drawImage(this.kept, left, 0, view.width, height);
    if (matches) this.drawMatches(context, palette, left, matches);
    const whole = limits.end - limits.begin;
    const from = left + (view.begin / whole) * view.width;
    const to = left + (view.end / whole) * view.width;
    context.fillStyle = palette.background;
    context.globalAlpha = 0.65;
    context.fillRect(left, 0, from - left, height);
    context.fillRect(to, 0, left + view.width - to, height);
    context.globalAlpha = 1;
    context.strokeStyle = palette.ink3;
    context.lineWidth = 1;
    context.strokeRect(from + 0.5, 0.5, Math.max(2, to - from - 1), height - 1);
  }

  private drawn(palette: Palette, height: number, limits: Limits): HTMLCanvasElement {
    const ratio = devicePixelRatio || 1;
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(this.width * ratio));
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d")!;
    context.scale(ratio, ratio);
    const { timeline } = this;
    const painter = new Painter(context, palette, {
      name: () => "",
      part: this.fill,
      dimmed: () => false,
    });
    const work = timeline.tracks.filter((track) => !track.annotations && !track.quiet);
    const gpus = [...new Set(work.map(({ gpu }) => gpu))].filter((gpu) => gpu !== null);
    // Work of one GPU may overlap; of a thread, what its frames hold says enough.
    const strips = [
      ...gpus.map((gpu) => work.filter((track) => track.gpu === gpu).flatMap(({ firstRow, rows }) => Array.from({ length: rows }, (_, row) => firstRow + row))),
      ...work.filter(({ gpu }) => gpu === null).map(({ firstRow, frames, rows }) => [firstRow + Math.min(frames, rows - 1)]),
    ].slice(0, kMostStrips);
    const each = Math.max(2, (height - 4) / Math.max(1, strips.length));
    const whole: View = { begin: limits.begin, end: limits.end, width: this.width };
    strips.forEach((rows, index) => {
      for (const row of rows) {
        painter.row(timeline.rows, row, whole, 0, 2 + index * each, Math.max(1, each - 1), false);
        painter.flush();
      }
    });
    return canvas;
  }

  private drawMatches(context: CanvasRenderingContext2D, palette: Palette, left: number, matches: Matches): void {
    if (this.ticks?.of !== matches) {
      const at = new Uint8Array(Math.ceil(this.width) + 1);
      const { start, label } = this.timeline.rows;
      const scale = this.width / Math.max(1, this.timeline.lengthNs);
      for (let i = 0; i < label.length; ++i) if (matches.labels[label[i]!]) at[Math.floor(start[i]! * scale)] = 1;
      this.ticks = { of: matches, at };
    }
    context.fillStyle = palette.mark;
    this.ticks.at.forEach((is, x) => { if (is) context.fillRect(left + x, 0, 1, 4); });
  }
}
