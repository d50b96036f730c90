import type { Scene } from "../canvas/navigation";
import { Painter } from "../canvas/painter";
import { currentPalette, type Palette } from "../canvas/palette";
import { Surface } from "../canvas/surface";
import type { Tip } from "../canvas/tooltip";
import { fitted, moved, pixelOf, valueAt, type Limits, type View } from "../canvas/view";
import { formatDuration } from "../format";
import { drawArrows, launchesOf, linksOf, type Place } from "./arrows";
import { drawNames, kPinWidth, titleOf } from "./column";
import { drawCounter } from "./counter";
import type { Counter, Timeline, Track } from "./decode";
import type { Matches } from "./find";
import { drawInstants } from "./instants";
import { bandAt, bandOf, bandTop, downOf, isFolded, kRowGap, kRowHeight, layoutOf, pinnableOf, placeOf, rowIn, shownAtFirst, type Band, type GpuBand, type Layout, type Shown } from "./layout";
import { drawMark, drawRange } from "./marks";
import { Minimap } from "./minimap";
import { namesIn } from "./names";
import type { CriticalPath } from "./path";
import { drawPath } from "./path_drawing";
import { drawTicks } from "./ruler";
import { rowOf, trackOf } from "./stack";
import type { Range } from "./sums";
import { drawStepLines, drawStepNames, kMinimap, kRuler, kSteps, stepRowsOf, type Area } from "./surroundings";
import { tipAt } from "./tips";
import { above, below, firstSeen, nextMoment, wordsOf } from "./walk";

const kLeastNs = 20;
const kMostPinned = 0.35; // of the height of all, with what is written below the canvas

// What tests look at: what the last frame drew.
export interface Frame {
  rectangles: number;
  labels: number;
  arrows: number;
  instants: number;
  path: number;
  view: [number, number];
  tracks: { name: string; top: number; height: number; pinned: boolean }[]; // where they stand on the canvas
}

export interface Watcher {
  selected(span: number): void;
  ranged(range: Range | null): void;
  hovered(tip: Tip | null): void;
  moved(view: View): void;
  rearranged(): void; // what is pinned and folded
  said(words: string): void; // what keys came to, for those who hear the page
}

// Where the timeline is drawn: the canvas stays where it is in the scroller, and the spacer makes room to scroll.
export interface Stage {
  canvas: HTMLCanvasElement;
  scroller: HTMLElement;
  spacer: HTMLElement;
}

// The timeline on a canvas: overview and ruler on top, then what is pinned, below that what the scroller shows of the
// other tracks. Holds what is seen; the tab holds what is written beside it.
export class TimelineScene implements Scene {
  view: View;
  readonly limits: Limits;
  readonly ruler: number; // the height of all that stands on top
  left = 170;
  marked: [number, number] | null = null;
  matches: Matches | null = null;
  selected = -1;
  range: Range | null = null;
  readonly shown: Shown;
  layout: Layout;
  readonly isMain = true;
  private moment = -1; // of the timeline's instants, where keys are
  private markedDown: [number, number] | null = null;
  byClass = false; // GPU work has the colour of its class, not of its part of the time
  private readonly surface: Surface;
  private readonly minimap: Minimap;
  private palette: Palette = currentPalette();
  private readonly nameOf: (label: number) => string;
  private readonly stepRows: ReadonlySet<number>; // of steps alone, which the ruler names

  constructor(readonly timeline: Timeline, private readonly stage: Stage, private readonly watcher: Watcher) {
    this.limits = { begin: 0, end: Math.max(timeline.lengthNs, kLeastNs), least: kLeastNs };
    this.view = { begin: 0, end: this.limits.end, width: 1 };
    this.ruler = kMinimap + kRuler + (timeline.steps.length > 0 ? kSteps : 0);
    this.nameOf = namesIn(timeline);
    this.stepRows = stepRowsOf(timeline);
    this.shown = shownAtFirst(timeline);
    this.layout = layoutOf(timeline, this.shown, this.mostPinned);
    this.minimap = new Minimap(timeline, this.fill);
    this.surface = new Surface(stage.canvas, (context, width, height) => this.paint(context, width, height), (what) => {
      if (what === "scheme") this.palette = currentPalette();
      else this.resized();
      this.minimap.forget();
    });
    this.arrange();
    stage.scroller.addEventListener("scroll", () => this.redraw());
  }

  // The colour of a label, as an index of kFills.
  private readonly fill = (label: number): number => (this.byClass ? this.timeline.classFills : this.timeline.fills)[label]!;

  private get mostPinned(): number {
    return (this.stage.scroller.closest(".drawing")?.clientHeight ?? 0) * kMostPinned;
  }
  get scrolled(): number {
    return this.stage.scroller.scrollTop;
  }

  colourByClass(byClass: boolean): void {
    this.byClass = byClass;
    this.minimap.forget();
    this.changed();
  }
  showPaths(paths: CriticalPath[]): void {
    this.shown.paths = paths;
    this.arrange();
  }
  pin(one: Track | Counter, pinned: boolean): void {
    if (pinned) this.shown.pinned.add(one);
    else this.shown.pinned.delete(one);
    this.arrange();
  }
  pinOnly(places: number[]): void {
    this.shown.pinned.clear();
    const all = pinnableOf(this.timeline);
    for (const place of places) if (all[place]) this.shown.pinned.add(all[place]);
    this.arrange();
  }
  // What is pinned among what may be; null where that is as at first.
  pinnedPlaces(): number[] | null {
    const places = (pinned: Set<Track | Counter>) => pinnableOf(this.timeline).flatMap((one, place) => (pinned.has(one) ? [place] : []));
    const now = places(this.shown.pinned);
    return now.join() === places(shownAtFirst(this.timeline).pinned).join() ? null : now;
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

  // After `shown` or the room for it changed.
  arrange(): void {
    this.layout = layoutOf(this.timeline, this.shown, this.mostPinned);
    this.stage.spacer.style.height = `max(0px, ${this.ruler + this.layout.pinnedHeight + this.layout.height}px - 100%)`;
    this.watcher.rearranged();
    this.redraw();
  }

  select(span: number): void {
    this.selected = span;
    this.watcher.selected(span);
    this.redraw();
  }
  setRange(range: Range | null): void {
    this.range = range && { ...range, from: Math.max(range.from, this.limits.begin), to: Math.min(range.to, this.limits.end) };
    this.watcher.ranged(this.range);
    this.changed();
  }

  // Selects a span and brings it into sight; `closely`, so that it is what the view is about.
  show(span: number, closely = false): void {
    const { start, length } = this.timeline.rows;
    const seen = this.view.end - this.view.begin;
    const [at, long] = [start[span]!, length[span]!];
    if (closely || long > seen || long < seen / 400) {
      const around = Math.max(long * 8, kLeastNs * 8);
      this.view = fitted(this.view, at + long / 2 - around / 2, at + long / 2 + around / 2, this.limits);
    } else if (at < this.view.begin || at + long > this.view.end) {
      this.view = fitted(this.view, at + long / 2 - seen / 2, at + long / 2 + seen / 2, this.limits);
    }
    this.pick(span);
    this.changed();
  }

  // Selects a span where the view is.
  pick(span: number): void {
    this.reveal(rowOf(this.timeline, span));
    this.select(span);
  }

  // What is selected fills the view: the range, else the span.
  fit(): void {
    const { rows } = this.timeline;
    const stretch = this.range ? [this.range.from, this.range.to] : this.selected >= 0 ? [rows.start[this.selected]!, rows.end(this.selected)] : null;
    if (!stretch) return;
    const [from, to] = stretch as [number, number];
    const room = (to - from) * 0.05;
    this.view = fitted(this.view, from - room, to + room, this.limits);
    this.changed();
  }

  readonly keys: Record<string, () => void> = {
    escape: () => (this.range ? this.setRange(null) : this.select(-1)),
    f: () => this.fit(),
    m: () => {
      const { rows } = this.timeline;
      if (this.selected >= 0) this.setRange({ from: rows.start[this.selected]!, to: rows.end(this.selected), tracks: null });
    },
    r: () => this.setRange({ from: this.view.begin, to: this.view.end, tracks: null }),
    ".": () => this.step(1),
    ",": () => this.step(-1),
    // With a span selected, arrows walk from span to span; else they move the view.
    enter: () => (this.selected < 0 ? this.walkTo(firstSeen(this.timeline, this.layout, this.view)) : false),
    arrowleft: () => (this.selected < 0 ? false : this.step(-1)),
    arrowright: () => (this.selected < 0 ? false : this.step(1)),
    arrowup: () => (this.selected < 0 ? false : this.walkTo(above(this.timeline, this.layout, this.view, this.selected))),
    arrowdown: () => (this.selected < 0 ? false : this.walkTo(below(this.timeline, this.layout, this.view, this.selected))),
    o: () => this.onBand((band) => this.fold(band)),
    p: () => this.onBand((band) => { if (band.kind === "track") this.pin(band.track, !this.shown.pinned.has(band.track)); }),
    t: () => this.onTrack(),
    "]": () => this.goToMoment(1),
    "[": () => this.goToMoment(-1),
  };

  private walkTo(span: number): void {
    if (span < 0) return;
    const { rows } = this.timeline;
    const [at, end] = [rows.start[span]!, rows.end(span)];
    if (end <= this.view.begin || at >= this.view.end) {
      const half = (this.view.end - this.view.begin) / 2;
      this.view = fitted(this.view, (at + end) / 2 - half, (at + end) / 2 + half, this.limits);
    }
    this.pick(span);
    this.changed();
    this.watcher.said(wordsOf(this.timeline, span));
  }
  private onBand(act: (band: Band) => void): void {
    const place = this.selected < 0 ? null : placeOf(this.layout, rowOf(this.timeline, this.selected));
    if (place) act(place.band);
  }
  // What ran on the track of the selected span: in the selected range, else in what is seen.
  private onTrack(): void {
    if (this.selected < 0) return;
    const { from, to } = this.range ?? { from: this.view.begin, to: this.view.end };
    this.setRange({ from, to, tracks: [this.timeline.tracks.indexOf(trackOf(this.timeline, this.selected))] });
  }
  private goToMoment(by: number): void {
    const next = nextMoment(this.timeline, this.view, this.moment, by);
    const instant = this.timeline.instants[next];
    if (!instant) return;
    this.moment = next;
    const half = (this.view.end - this.view.begin) / 2;
    if (instant.at < this.view.begin || instant.at > this.view.end) this.view = fitted(this.view, instant.at - half, instant.at + half, this.limits);
    this.reveal(instant.track.firstRow);
    this.changed();
    const place = placeOf(this.layout, instant.track.firstRow);
    const tip = { title: instant.name, lines: [`at ${formatDuration(instant.at)}`, instant.track.name] };
    this.watcher.hovered({ x: this.left + pixelOf(this.view, instant.at), y: this.ruler + (place ? downOf(this.layout, place, this.scrolled) + kRowHeight : 0), ...tip });
    this.watcher.said([tip.title, ...tip.lines].join(", "));
  }

  // The span before or after the selected one in its row.
  private step(by: number): void {
    if (this.selected < 0) return;
    const row = rowOf(this.timeline, this.selected);
    const { first } = this.timeline.rows;
    const next = this.selected + by;
    if (next < first[row]! || next >= first[row + 1]!) return;
    this.show(next);
    this.watcher.said(wordsOf(this.timeline, next));
  }

  click(x: number, y: number): void {
    if (x < this.left && y >= this.ruler) return this.clickName(x, y);
    if (y >= this.ruler) this.select(this.spanAt(x, y));
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
    const isName = x < this.left && y >= this.ruler;
    this.stage.canvas.style.cursor = isName ? "pointer" : y >= 0 && y < kMinimap ? "grab" : y < this.ruler && x >= this.left ? "col-resize" : "default";
    this.watcher.hovered(x < 0 || y < this.ruler ? null : tipAt(this, x, y));
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

  // A range of all tracks, or of those between two heights.
  mark([from, to]: [number, number], heights: [number, number] | null, isDone: boolean): void {
    this.marked = isDone ? null : [from, to];
    this.markedDown = heights;
    if (!isDone) return this.redraw();
    if (to > from) this.setRange({ from, to, tracks: heights && this.tracksBetween(heights) });
  }

  private tracksBetween([top, bottom]: [number, number]): number[] {
    const { layout, ruler } = this;
    const chosen = layout.bands.flatMap((band) => {
      const at = ruler + bandTop(layout, band, this.scrolled);
      const from = band.pinned ? at : Math.max(at, ruler + layout.pinnedHeight);
      if (Math.max(from, top) >= Math.min(at + band.height, bottom)) return [];
      if (band.kind === "track") return [band.track];
      return band.kind === "gpu" || (band.kind === "quiet" && !this.shown.quiet) ? band.tracks : [];
    });
    return [...new Set(chosen)].map((track) => this.timeline.tracks.indexOf(track)).sort((a, b) => a - b);
  }

  bandAt(y: number): Band | null {
    return bandAt(this.layout, this.scrolled, y - this.ruler);
  }

  spanAt(x: number, y: number): number {
    if (x < this.left || y < this.ruler) return -1;
    const band = this.bandAt(y);
    const at = valueAt(this.view, x - this.left);
    const near = ((this.view.end - this.view.begin) / this.view.width) * 1.5;
    if (band?.kind === "path") return band.path.span[band.path.rows.find(0, at, near)] ?? -1;
    if (band?.kind === "gpu") return this.workAt(band, at, near);
    if (band?.kind !== "track") return -1;
    return this.timeline.rows.find(rowIn(band, y - this.ruler - bandTop(this.layout, band, this.scrolled)), at, near);
  }

  // Of streams in one row, the last drawn is on top.
  private workAt({ tracks }: GpuBand, at: number, near: number): number {
    const { rows } = this.timeline;
    const found = tracks.map((track) => rows.find(track.firstRow, at, near)).filter((span) => span >= 0);
    return found.filter((span) => rows.start[span]! <= at && at < rows.end(span)).at(-1) ?? found.at(-1) ?? -1;
  }

  // The pin pins; the name folds: frames, then all, then nothing.
  private clickName(x: number, y: number): void {
    const band = this.bandAt(y);
    const { shown } = this;
    const isPin = x >= this.left - kPinWidth;
    if (band?.kind === "counter" && isPin) this.pin(band.counter, !shown.pinned.has(band.counter));
    else if (band?.kind === "track" && isPin) this.pin(band.track, !shown.pinned.has(band.track));
    else if (band) this.fold(band);
  }

  // Folds or opens.
  private fold(band: Band): void {
    const { shown } = this;
    if (band.kind === "quiet") shown.quiet = !shown.quiet;
    if (band.kind === "gpu" && !shown.open.delete(band.gpu)) shown.open.add(band.gpu);
    if (band.kind === "track") {
      const { track } = band;
      if (track.rows < 2) return;
      if (shown.folded.delete(track)) {
        if (track.frames > 0) shown.framed.add(track);
      } else if (!shown.framed.delete(track)) {
        shown.folded.add(track);
      }
    }
    this.arrange();
  }

  // Unfolds and scrolls until a row is seen.
  private reveal(row: number): void {
    const folded = bandOf(this.layout, row);
    if (folded && isFolded(folded, row)) {
      if (!this.shown.folded.delete(folded.track)) this.shown.framed.delete(folded.track);
      this.arrange();
    } else if (!placeOf(this.layout, row)) {
      this.shown.quiet = true;
      this.arrange();
    }
    const place = placeOf(this.layout, row);
    if (!place || place.band.pinned) return;
    const top = place.band.top + place.down;
    const room = this.surface.height - this.ruler - this.layout.pinnedHeight;
    if (top < this.scrolled || top + kRowHeight > this.scrolled + room) this.stage.scroller.scrollTop = Math.max(0, top - room / 2);
  }

  private resized(): void {
    const ranks = this.timeline.parts.length > 1;
    const { clientWidth } = this.stage.canvas;
    this.left = clientWidth < 640 ? 96 : ranks ? 220 : 186;
    this.view = { ...this.view, width: Math.max(1, clientWidth - this.left) };
    if (this.surface) this.arrange();
    // What is written below the canvas may have come to stand over it.
    if (this.surface && this.selected >= 0) this.reveal(rowOf(this.timeline, this.selected));
  }

  private paint(context: CanvasRenderingContext2D, width: number, height: number): void {
    const { palette, timeline, view, left, ruler, layout } = this;
    const area: Area = { context, palette, view, left, ruler, width, height, scrolled: this.scrolled };
    context.fillStyle = palette.panel;
    context.fillRect(0, 0, width, height);
    drawTicks(context, palette, view, left, kMinimap, kRuler, height);
    const painter = new Painter(context, palette, {
      name: this.nameOf,
      part: this.fill,
      dimmed: (label) => this.matches !== null && this.matches.labels[label] === 0,
    });
    this.within(area, ruler + layout.pinnedHeight, height, () => this.drawBands(area, painter, false));
    this.within(area, ruler, ruler + layout.pinnedHeight, () => {
      context.fillStyle = palette.panel;
      context.fillRect(left, ruler, width - left, layout.pinnedHeight);
      this.drawBands(area, painter, true);
    });
    let arrows = 0;
    let instants = 0;
    let path = 0;
    this.within(area, ruler, height, () => {
      drawStepLines(area, timeline);
      instants = drawInstants(area, layout, timeline.instants);
      for (const one of this.shown.paths) path += drawPath(area, layout, timeline, one);
      arrows = this.drawSelection(area);
    });
    if (this.range) this.within(area, 0, height, () => drawRange(area, layout, this.range!, timeline.tracks));
    drawNames(area, layout, this.shown);
    this.drawHead(area);
    if (this.marked) drawMark(area, this.marked, this.markedDown);
    this.note({ ...painter.drawn, arrows, instants, path, view: [view.begin, view.end], tracks: [] });
  }

  private note(frame: Frame): void {
    const shown = this.stage.canvas as HTMLCanvasElement & { frame?: Frame };
    if (!shown.frame) performance.mark("timeline drawn");
    frame.tracks = this.layout.bands.map((band) => ({
      name: titleOf(band),
      top: this.ruler + bandTop(this.layout, band, this.scrolled), height: band.height, pinned: band.pinned,
    }));
    shown.frame = frame;
  }

  private within({ context, left, width }: Area, top: number, bottom: number, draw: () => void): void {
    context.save();
    context.beginPath();
    context.rect(left, top, width - left, Math.max(0, bottom - top));
    context.clip();
    draw();
    context.restore();
  }

  private drawBands(area: Area, painter: Painter, pinned: boolean): void {
    const { context, palette, view, left, ruler, height, scrolled } = area;
    const top = pinned ? ruler : ruler + this.layout.pinnedHeight;
    for (const band of this.layout.bands) {
      const y = ruler + bandTop(this.layout, band, scrolled);
      if (band.pinned !== pinned || y > height || y + band.height < top) continue;
      if (band.kind === "counter") drawCounter(context, palette, band, view, left, y);
      if (band.kind === "path") this.drawLane(context, band.path, y);
      if (band.kind === "gpu") this.drawGpu(painter, band, y);
      if (band.kind !== "track") continue;
      for (let row = 0; row < band.rows; ++row) {
        const at = y + row * (kRowHeight + kRowGap);
        if (at > height || at + kRowHeight < top) continue;
        const drawn = band.track.firstRow + band.hidden + row;
        painter.row(this.timeline.rows, drawn, view, left, at, kRowHeight, !this.stepRows.has(drawn));
      }
    }
    painter.flush();
  }

  // All streams of a GPU in one row, what they compute on top.
  private drawGpu(painter: Painter, band: GpuBand, y: number): void {
    for (const track of band.tracks) {
      painter.row(this.timeline.rows, track.firstRow, this.view, this.left, y, kRowHeight);
      painter.flush();
    }
  }

  // What bounds the run at each instant.
  private drawLane(context: CanvasRenderingContext2D, path: CriticalPath, y: number): void {
    const painter = new Painter(context, this.palette, {
      name: (bound) => path.bounds[bound]!.label, part: (bound) => path.fills[bound]!, dimmed: () => false,
    });
    painter.row(path.rows, 0, this.view, this.left, y, kRowHeight);
    painter.flush();
  }

  private drawSelection(area: Area): number {
    if (this.selected < 0) return 0;
    const { rows } = this.timeline;
    const { layout, ruler, selected } = this;
    const { context } = area;
    const place = (span: number): Place | null => {
      const found = placeOf(layout, rowOf(this.timeline, span));
      return found && {
        begin: this.left + pixelOf(this.view, rows.start[span]!),
        end: this.left + pixelOf(this.view, rows.end(span)),
        top: ruler + downOf(layout, found, area.scrolled),
      };
    };
    const at = place(selected);
    if (!at) return 0;
    this.within(area, placeOf(layout, rowOf(this.timeline, selected))!.band.pinned ? ruler : ruler + layout.pinnedHeight, area.height, () => {
      context.strokeStyle = this.palette.ink;
      context.lineWidth = 2;
      context.strokeRect(at.begin - 1, at.top - 1, Math.max(3, at.end - at.begin + 1), kRowHeight + 2);
    });
    const links = [...launchesOf(this.timeline, selected), ...linksOf(this.timeline, selected)];
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
