import type { Scene } from "../canvas/navigation";
import { Painter } from "../canvas/painter";
import { currentPalette, type Palette } from "../canvas/palette";
import { Surface } from "../canvas/surface";
import { fitted, moved, pixelOf, valueAt, type Limits, type View } from "../canvas/view";
import { drawArrows, launchesOf, linksOf } from "./arrows";
import { drawCounter } from "./counter";
import type { Instant, Timeline, Track } from "./decode";
import type { Matches } from "./find";
import { drawInstants, instantAt } from "./instants";
import { kRowGap, kRowHeight, layoutOf, rowAt, topOf, type Layout } from "./layout";
import { Minimap } from "./minimap";
import { drawTicks } from "./ruler";
import { drawMark, drawNames, drawStepLines, drawStepNames, kMinimap, kRuler, kSteps, type Area } from "./surroundings";

const kLeastNs = 20;

// What tests look at: what the last frame drew.
export interface Frame {
  rectangles: number;
  labels: number;
  arrows: number;
  instants: number;
  view: [number, number];
}

export interface Watcher {
  selected(span: number): void;
  hovered(span: number, x: number, y: number): void;
  passed(instant: Instant, x: number, y: number): void; // the pointer is at it
  moved(view: View): void;
  laidOut(height: number): void; // of all that can be scrolled through
}

// The timeline on a canvas: overview and ruler on top, below them what the scroller shows of the
// tracks. Holds what is seen; the tab holds what is written beside it.
export class TimelineScene implements Scene {
  view: View;
  readonly limits: Limits;
  readonly ruler: number; // the height of all that stands on top
  left = 170;
  marked: [number, number] | null = null;
  matches: Matches | null = null;
  private byClass = false; // GPU work has the colour of its class, not of its part of the time
  selected = -1;
  private layout: Layout;
  private readonly folded = new Set<Track>();
  private readonly surface: Surface;
  private readonly minimap: Minimap;
  private palette: Palette = currentPalette();

  constructor(
    readonly timeline: Timeline,
    private readonly canvas: HTMLCanvasElement,
    private readonly scroller: HTMLElement,
    private readonly watcher: Watcher,
  ) {
    this.limits = { begin: 0, end: Math.max(timeline.lengthNs, kLeastNs), least: kLeastNs };
    this.view = { begin: 0, end: this.limits.end, width: 1 };
    this.ruler = kMinimap + kRuler + (timeline.steps.length > 0 ? kSteps : 0);
    this.layout = layoutOf(timeline, this.folded);
    this.minimap = new Minimap(timeline, this.fill);
    this.surface = new Surface(canvas, (context, width, height) => this.paint(context, width, height), (what) => {
      if (what === "scheme") this.palette = currentPalette();
      else this.resized();
      this.minimap.forget();
    });
    this.watcher.laidOut(this.ruler + this.layout.height);
    scroller.addEventListener("scroll", () => this.redraw());
  }

  // The colour of a label, as an index of kFills.
  private readonly fill = (label: number): number => (this.byClass ? this.timeline.classFills : this.timeline.parts)[label]!;

  colourByClass(byClass: boolean): void {
    this.byClass = byClass;
    this.minimap.forget();
    this.redraw();
  }

  close(): void {
    this.surface.close();
  }
  redraw(): void {
    this.surface.redraw();
  }
  changed(): void {
    this.watcher.moved(this.view);
    this.redraw();
  }

  select(span: number): void {
    this.selected = span;
    this.watcher.selected(span);
    this.redraw();
  }

  // Selects a span and brings it into sight.
  show(span: number): void {
    const { rows } = this.timeline;
    const [start, length] = [rows.start[span]!, rows.length[span]!];
    const seen = this.view.end - this.view.begin;
    if (length > seen || length < seen / 400) {
      const around = Math.max(length * 8, kLeastNs * 8);
      this.view = fitted(this.view, start + length / 2 - around / 2, start + length / 2 + around / 2, this.limits);
    } else if (start < this.view.begin || start + length > this.view.end) {
      this.view = fitted(this.view, start + length / 2 - seen / 2, start + length / 2 + seen / 2, this.limits);
    }
    const top = topOf(this.layout, this.rowOf(span));
    const height = this.surface.height - this.ruler;
    if (top < this.scroller.scrollTop || top + kRowHeight > this.scroller.scrollTop + height) {
      this.scroller.scrollTop = Math.max(0, top - height / 2);
    }
    this.select(span);
    this.changed();
  }

  rowOf(span: number): number {
    const { first } = this.timeline.rows;
    let low = 0;
    let high = first.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (first[middle]! <= span) low = middle;
      else high = middle;
    }
    return low;
  }

  trackOf(span: number): Track {
    const row = this.rowOf(span);
    return this.timeline.tracks.find((track) => row < track.firstRow + track.rows)!;
  }

  click(x: number, y: number): void {
    const down = y - this.ruler + this.scroller.scrollTop;
    if (x < this.left && y >= this.ruler) return this.fold(down);
    this.select(this.spanAt(x, y));
  }

  doubleClick(x: number, y: number): void {
    const span = this.spanAt(x, y);
    if (span < 0) return;
    const { start, length } = this.timeline.rows;
    const room = length[span]! * 0.05;
    this.view = fitted(this.view, start[span]! - room, start[span]! + length[span]! + room, this.limits);
    this.changed();
  }

  hover(x: number, y: number): void {
    this.canvas.style.cursor = y >= 0 && y < kMinimap ? "grab" : x < this.left ? "default" : y < this.ruler ? "col-resize" : "default";
    const down = y - this.ruler + this.scroller.scrollTop;
    const instant = x < this.left || y < this.ruler ? null : instantAt(this.timeline.instants, this.layout, this.view, x - this.left, down);
    if (instant) this.watcher.passed(instant, x, y);
    else this.watcher.hovered(x < 0 ? -1 : this.spanAt(x, y), x, y);
  }

  press(x: number, y: number): ((x: number, y: number) => void) | null {
    if (y >= kMinimap || x < this.left) return null;
    const to = (pixel: number) => {
      const at = this.minimap.valueAt(pixel - this.left);
      const middle = (this.view.begin + this.view.end) / 2;
      this.view = moved(this.view, at - middle, this.limits);
      this.changed();
    };
    to(x);
    return to;
  }

  private spanAt(x: number, y: number): number {
    if (x < this.left || y < this.ruler) return -1;
    const row = rowAt(this.layout, y - this.ruler + this.scroller.scrollTop);
    if (row < 0) return -1;
    const near = (this.view.end - this.view.begin) / this.view.width;
    return this.timeline.rows.find(row, valueAt(this.view, x - this.left), near * 1.5);
  }

  private fold(y: number): void {
    for (const band of this.layout.bands) {
      if (band.kind !== "track" || y < band.top || y >= band.top + band.height || band.track.rows < 2) continue;
      if (!this.folded.delete(band.track)) this.folded.add(band.track);
    }
    this.layout = layoutOf(this.timeline, this.folded);
    this.watcher.laidOut(this.ruler + this.layout.height);
    this.redraw();
  }

  private resized(): void {
    this.left = this.canvas.clientWidth < 640 ? 84 : 170;
    this.view = { ...this.view, width: Math.max(1, this.canvas.clientWidth - this.left) };
  }

  private paint(context: CanvasRenderingContext2D, width: number, height: number): void {
    const { palette, timeline, view, left } = this;
    const scrolled = this.scroller.scrollTop;
    context.fillStyle = palette.panel;
    context.fillRect(0, 0, width, height);
    drawTicks(context, palette, view, left, kMinimap, kRuler, height);
    const painter = new Painter(context, palette, {
      name: (label) => timeline.names[label]!,
      part: this.fill,
      dimmed: (label) => this.matches !== null && this.matches.labels[label] === 0,
    });
    context.save();
    context.beginPath();
    context.rect(left, this.ruler, width - left, height - this.ruler);
    context.clip();
    for (const band of this.layout.bands) {
      const y = this.ruler + band.top - scrolled;
      if (y > height || y + band.height < this.ruler) continue;
      if (band.kind === "counter") {
        drawCounter(context, palette, band, view, left, y);
        continue;
      }
      for (let row = 0; row < band.rows; ++row) {
        const top = y + row * (kRowHeight + kRowGap);
        if (top > height || top + kRowHeight < this.ruler) continue;
        painter.row(timeline.rows, band.track.firstRow + row, view, left, top, kRowHeight);
      }
    }
    painter.flush();
    const area: Area = { context, palette, view, left, ruler: this.ruler, width, height, scrolled };
    drawStepLines(area, timeline);
    const instants = drawInstants(area, this.layout, timeline.instants);
    const arrows = this.drawSelection(context, scrolled);
    context.restore();
    drawNames(area, this.layout);
    this.drawHead(area);
    if (this.marked) drawMark(area, this.marked);
    const frame: Frame = { ...painter.drawn, arrows, instants, view: [view.begin, view.end] };
    const shown = this.canvas as HTMLCanvasElement & { frame?: Frame };
    if (!shown.frame) performance.mark("timeline drawn");
    shown.frame = frame;
  }

  private drawSelection(context: CanvasRenderingContext2D, scrolled: number): number {
    if (this.selected < 0) return 0;
    const { rows } = this.timeline;
    const place = (span: number) => ({
      begin: this.left + pixelOf(this.view, rows.start[span]!),
      end: this.left + pixelOf(this.view, rows.end(span)),
      top: this.ruler + topOf(this.layout, this.rowOf(span)) - scrolled,
    });
    const at = place(this.selected);
    context.strokeStyle = this.palette.ink;
    context.lineWidth = 2;
    context.strokeRect(at.begin - 1, at.top - 1, Math.max(3, at.end - at.begin + 1), kRowHeight + 2);
    const links = [...launchesOf(this.timeline, this.selected), ...linksOf(this.timeline, this.selected)];
    return drawArrows(context, this.palette, links, place);
  }

  private drawHead(area: Area): void {
    const { context, palette, left, view, width } = area;
    context.fillStyle = palette.background;
    context.fillRect(0, 0, width, kMinimap);
    context.fillRect(0, kMinimap, left, kRuler);
    this.minimap.draw(context, palette, left, kMinimap, view, this.limits, this.matches);
    context.fillStyle = palette.line;
    context.fillRect(0, kMinimap, width, 1);
    drawStepNames(area, this.timeline);
    context.fillStyle = palette.line;
    context.fillRect(0, this.ruler - 1, width, 1);
  }
}
