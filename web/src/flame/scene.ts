import type { Scene } from "../canvas/navigation";
import { Painter } from "../canvas/painter";
import { currentPalette, type Palette } from "../canvas/palette";
import { Surface } from "../canvas/surface";
import { fitted, pixelOf, valueAt, type Limits, type View } from "../canvas/view";
import { layOut, shownName, type Laid, type Order, type Tree, type Weight } from "./tree";

const kRowHeight = 19;
const kTop = 6;

export interface Watcher {
  zoomed(node: number): void;
  hovered(node: number, x: number, y: number): void;
  chosen(node: number): void; // by keys
  laidOut(height: number): void;
}

// The flame graph on a canvas, the whole on top.
export class FlameScene implements Scene {
  view: View = { begin: 0, end: 1, width: 1 };
  limits: Limits = { begin: 0, end: 1, least: 1 };
  readonly left = 0;
  readonly ruler = 0;
  marked: [number, number] | null = null;
  matches: Uint8Array | null = null;
  private laid!: Laid;
  private hovered = -1; // or chosen by keys
  private palette: Palette;
  private readonly surface: Surface;

  constructor(
    readonly tree: Tree,
    private weight: Weight,
    private order: Order,
    private readonly canvas: HTMLCanvasElement,
    private readonly scroller: HTMLElement,
    private readonly watcher: Watcher,
    readonly isMain: boolean,
    colours: () => Palette = currentPalette,
  ) {
    this.palette = colours();
    this.arrange(weight, order);
    this.surface = new Surface(canvas, (context, width, height) => this.paint(context, width, height), (what) => {
      if (what === "scheme") this.palette = colours();
      else this.view = { ...this.view, width: Math.max(1, canvas.clientWidth) };
    });
    scroller.addEventListener("scroll", () => this.redraw());
  }

  // Everything anew, by another weight or in another order.
  arrange(weight: Weight, order: Order): void {
    this.weight = weight;
    this.order = order;
    this.laid = layOut(this.tree, weight, this.order);
    const whole = this.tree.total[this.weight][0]!;
    this.limits = { begin: 0, end: whole, least: Math.max(whole * 1e-7, 1e-3) };
    this.view = { ...this.view, begin: 0, end: Math.max(whole, 1e-3) };
    this.watcher.laidOut(kTop * 2 + this.laid.rows.rows * kRowHeight);
    this.surface?.redraw();
  }

  zoomTo(node: number): void {
    const at = this.laid.place[node]!;
    if (at < 0) return;
    const { start, length } = this.laid.rows;
    this.view = fitted(this.view, start[at]!, start[at]! + length[at]!, this.limits);
    this.zoomed = node;
    this.watcher.zoomed(node);
    this.redraw();
  }

  // Arrows walk from call to call: up to the caller, down to its first call, sideways along the row. Enter zooms, Escape zooms out to the caller.
  readonly keys: Record<string, () => boolean | void> = {
    arrowup: () => this.choose(this.at === 0 ? 0 : this.tree.parent[this.at]!),
    arrowdown: () => this.choose(this.below(this.at)),
    arrowleft: () => this.choose(this.beside(this.at, -1)),
    arrowright: () => this.choose(this.beside(this.at, 1)),
    enter: () => this.zoomTo(this.at),
    escape: () => this.zoomTo(this.zoomed === 0 ? 0 : this.tree.parent[this.zoomed]!),
  };
  private zoomed = 0;

  // Where the keys are.
  private get at(): number {
    return this.hovered >= 0 && this.laid.place[this.hovered]! >= 0 ? this.hovered : this.zoomed;
  }
  private below(node: number): number {
    const { rows, place } = this.laid;
    const row = this.tree.depth[node]! + 1;
    if (row >= rows.rows) return node;
    const first = rows.firstStarting(rows.start[place[node]!]!, rows.first[row]!, rows.first[row + 1]!);
    const found = first < rows.first[row + 1]! ? rows.label[first]! : node;
    return this.tree.parent[found] === node ? found : node;
  }
  private beside(node: number, by: number): number {
    const { rows, place } = this.laid;
    const row = this.tree.depth[node]!;
    const next = place[node]! + by;
    return next >= rows.first[row]! && next < rows.first[row + 1]! ? rows.label[next]! : node;
  }

  // Brings a call into sight and says what it is.
  choose(node: number): void {
    const { rows, place } = this.laid;
    const { start, length } = rows;
    const at = place[node]!;
    if (at < 0) return;
    const whole = this.view.end - this.view.begin;
    if (start[at]! + length[at]! <= this.view.begin || start[at]! >= this.view.end) {
      const middle = start[at]! + length[at]! / 2;
      this.view = fitted(this.view, middle - whole / 2, middle + whole / 2, this.limits);
    }
    const down = kTop + this.tree.depth[node]! * kRowHeight;
    const { scrollTop, clientHeight } = this.scroller;
    if (down < scrollTop || down + kRowHeight > scrollTop + clientHeight) this.scroller.scrollTop = Math.max(0, down - clientHeight / 2);
    this.hovered = node;
    const x = Math.max(0, pixelOf(this.view, start[at]!));
    this.watcher.hovered(node, Math.min(x, this.view.width), down + kRowHeight - this.scroller.scrollTop);
    this.watcher.chosen(node);
    this.redraw();
  }

  // Where a call stands among all, by row; -1 where it has no width.
  placeOf(node: number): number {
    return this.laid.place[node]!;
  }
  close(): void {
    this.surface.close();
  }
  redraw(): void {
    this.surface.redraw();
  }
  changed(): void {
    this.watcher.hovered(-1, 0, 0);
    this.redraw();
  }
  click(x: number, y: number): void {
    const node = this.nodeAt(x, y);
    if (node >= 0) this.zoomTo(node);
  }
  doubleClick(): void {}
  hover(x: number, y: number): void {
    const node = x < 0 ? -1 : this.nodeAt(x, y);
    this.canvas.style.cursor = node < 0 ? "default" : "pointer";
    this.watcher.hovered(node, x, y);
    if (node === this.hovered) return;
    this.hovered = node;
    this.redraw();
  }

  private nodeAt(x: number, y: number): number {
    const row = Math.floor((y - kTop + this.scroller.scrollTop) / kRowHeight);
    if (row < 0 || row >= this.laid.rows.rows) return -1;
    const near = (this.view.end - this.view.begin) / this.view.width;
    const at = this.laid.rows.find(row, valueAt(this.view, x), near);
    return at < 0 ? -1 : this.laid.rows.label[at]!;
  }

  private paint(context: CanvasRenderingContext2D, width: number, height: number): void {
    const { tree, laid, view } = this;
    context.fillStyle = this.palette.panel;
    context.fillRect(0, 0, width, height);
    const painter = new Painter(context, this.palette, {
      name: (node) => shownName(tree, node),
      part: (node) => tree.parts[node]!,
      dimmed: (node) => this.matches !== null && this.matches[node] === 0,
    });
    const top = kTop - this.scroller.scrollTop;
    for (let row = 0; row < laid.rows.rows; ++row) {
      const y = top + row * kRowHeight;
      if (y > height || y + kRowHeight < 0) continue;
      painter.row(laid.rows, row, view, 0, y, kRowHeight - 1);
    }
    painter.flush();
    this.outline(context, top);
    const frame = { ...painter.drawn, view: [view.begin, view.end] };
    (this.canvas as HTMLCanvasElement & { frame?: typeof frame }).frame = frame;
  }

  private outline(context: CanvasRenderingContext2D, top: number): void {
    const at = this.hovered < 0 ? -1 : this.laid.place[this.hovered]!;
    if (at < 0) return;
    const { rows } = this.laid;
    const scale = this.view.width / (this.view.end - this.view.begin);
    const begin = Math.max(0, (rows.start[at]! - this.view.begin) * scale);
    const end = Math.min(this.view.width, (rows.end(at) - this.view.begin) * scale);
    context.strokeStyle = this.palette.ink;
    context.lineWidth = 1.5;
    context.strokeRect(begin + 0.5, top + this.tree.depth[this.hovered]! * kRowHeight + 0.5, Math.max(1, end - begin - 1), kRowHeight - 2);
  }
}
