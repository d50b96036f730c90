import { onSchemeChange } from "../theme";

// A canvas that is as sharp as the screen, fills its element, and is painted again, at most once a
// frame, only when something changed.
export class Surface {
  width = 0;
  height = 0;
  private readonly context: CanvasRenderingContext2D;
  private frame = 0;
  private readonly observer: ResizeObserver;
  private readonly stopListening: () => void;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly paint: (context: CanvasRenderingContext2D, width: number, height: number) => void,
    private readonly changed: (what: "size" | "scheme") => void,
  ) {
    this.context = canvas.getContext("2d", { alpha: false })!;
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
    this.stopListening = onSchemeChange(() => {
      this.changed("scheme");
      this.redraw();
    });
    this.resize();
  }

  redraw(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    this.stopListening();
  }

  private resize(): void {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    const ratio = devicePixelRatio || 1;
    const sharp = [Math.round(width * ratio), Math.round(height * ratio)] as const;
    if (width === this.width && height === this.height && this.canvas.width === sharp[0]) return;
    this.width = width;
    this.height = height;
    [this.canvas.width, this.canvas.height] = sharp;
    this.changed("size");
    this.draw(); // at once, for a canvas that was resized is blank
  }

  private draw(): void {
    if (this.width === 0 || this.height === 0) return;
    const ratio = devicePixelRatio || 1;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint(this.context, this.width, this.height);
  }
}
