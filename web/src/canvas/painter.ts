import { kFills, type Palette } from "./palette";
import type { Rows } from "./rows";
import { scaleOf, type View } from "./view";

// Draws rows of rectangles: at most one a pixel column and row, however many there are. Rectangles of
// less than a pixel become one, in the colour of the longest and as strong as they cover the pixel.
// They are gathered by colour first, because changing it is what costs on a canvas.

const kFaded = [0.74, 0.5, 0.32]; // how strong what covers less than a pixel is; letters stand on the shades alone
const kLabelPixels = 26;
const kGrey = kFills.indexOf("idle");
const kWide = 3; // shades of what is wide enough to be told apart from its neighbours: canvas/shades.ts
const kTones = kWide + kFaded.length;
export const kFont = '11px ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, monospace';

export interface Looks {
  name(label: number): string;
  part(label: number): number; // index of kFills
  dimmed(label: number): boolean; // not among what was searched for
}

export interface Drawn {
  rectangles: number;
  labels: number;
}

export class Painter {
  readonly drawn: Drawn = { rectangles: 0, labels: 0 };
  private readonly batches: number[][] = Array.from({ length: kFills.length * kTones }, () => []);
  private labels: { x: number; y: number; width: number; label: number }[] = [];
  private letter = 0;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly palette: Palette,
    private readonly looks: Looks,
  ) {}

  // One row between y and y + height, on the pixels from x.
  row(rows: Rows, row: number, view: View, x: number, y: number, height: number, labelled = true): void {
    const scale = scaleOf(view);
    const to = rows.first[row + 1]!;
    let i = rows.firstEnding(row, view.begin);
    while (i < to && rows.start[i]! < view.end) {
      const left = (rows.start[i]! - view.begin) * scale;
      const width = rows.length[i]! * scale;
      if (width >= 1) {
        this.wide(rows.label[i]!, x, left, width, y, height, view.width, labelled);
        ++i;
        continue;
      }
      const pixel = Math.max(0, Math.floor(left));
      let next = rows.firstStarting(view.begin + (pixel + 1) / scale, i + 1, to);
      let shown = next - i === 1 ? i : rows.longest(i, next);
      if (rows.length[shown]! * scale >= 1) {
        next = shown; // it begins within this pixel and has its own rectangle
        shown = i;
      }
      this.narrow(rows.label[shown]!, x + pixel, y, height, rows.covered(i, next) * scale);
      i = next;
    }
  }

  // Puts what was gathered on the canvas.
  flush(): void {
    const { context } = this;
    this.batches.forEach((batch, index) => {
      if (batch.length === 0) return;
      const tone = index % kTones;
      const { shades } = this.palette.parts[Math.floor(index / kTones)]!;
      context.fillStyle = shades[tone < kWide ? tone : 0]!;
      context.globalAlpha = tone < kWide ? 1 : kFaded[tone - kWide]!;
      for (let i = 0; i < batch.length; i += 4) {
        context.fillRect(batch[i]!, batch[i + 1]!, batch[i + 2]!, batch[i + 3]!);
      }
      this.drawn.rectangles += batch.length / 4;
      batch.length = 0;
    });
    context.globalAlpha = 1;
    this.flushLabels();
  }

  private wide(
    label: number, x: number, left: number, width: number, y: number, height: number, end: number, labelled: boolean,
  ): void {
    const from = Math.max(0, left);
    const seen = Math.min(end, left + width) - from;
    if (seen <= 0) return;
    const part = this.looks.dimmed(label) ? kGrey : this.looks.part(label);
    // On whole pixels: sharp, and several times faster to fill.
    const begin = Math.floor(from);
    const gap = width > 3 ? 1 : 0;
    this.push(part, (label * 7) % kWide, x + begin, y, Math.max(Math.floor(from + seen) - begin - gap, 1), height);
    if (labelled && seen >= kLabelPixels) this.labels.push({ x: x + from, y: y + height / 2, width: seen, label });
  }

  private narrow(label: number, x: number, y: number, height: number, covered: number): void {
    const part = this.looks.dimmed(label) ? kGrey : this.looks.part(label);
    const tone = covered > 0.75 ? 0 : kWide + (covered > 0.4 ? 0 : covered > 0.15 ? 1 : 2);
    const batch = this.batches[part * kTones + tone]!;
    const last = batch.length - 4;
    if (last >= 0 && batch[last + 1] === y && batch[last]! + batch[last + 2]! === x) {
      batch[last + 2]! += 1;
    } else {
      this.push(part, tone, x, y, 1, height);
    }
  }

  private push(part: number, tone: number, x: number, y: number, width: number, height: number): void {
    this.batches[part * kTones + tone]!.push(x, y, width, height);
  }

  private flushLabels(): void {
    const { context } = this;
    context.font = kFont;
    context.textBaseline = "middle";
    context.textAlign = "left";
    this.letter ||= context.measureText("m").width;
    for (const { x, y, width, label } of this.labels) {
      const part = this.looks.dimmed(label) ? kGrey : this.looks.part(label);
      context.fillStyle = this.palette.parts[part]!.letters;
      context.fillText(fit(this.looks.name(label), Math.floor((width - 7) / this.letter)), x + 3, y + 0.5);
    }
    this.drawn.labels += this.labels.length;
    this.labels = [];
  }
}

// Text cut to so many letters.
export function fit(text: string, letters: number): string {
  if (text.length <= letters) return text;
  return letters <= 1 ? "" : `${text.slice(0, letters - 1)}…`;
}
