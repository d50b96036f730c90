import { fitted, valueAt, type View } from "./view";
import type { Scene } from "./navigation";

// Two fingers on the canvas: what was under each stays under it. One finger drags like a mouse.
export class Pinch {
  private readonly fingers = new Map<number, number>(); // pointer → x
  private held: [number, number] | null = null; // the values under the two

  constructor(private readonly scene: Scene, private readonly setView: (view: View) => void) {}

  // Whether two fingers are down; the first then no longer drags.
  down(pointer: number, x: number): boolean {
    this.fingers.set(pointer, x);
    if (this.fingers.size === 2) this.held = this.places().map((at) => valueAt(this.scene.view, at)) as [number, number];
    return this.fingers.size >= 2;
  }

  move(pointer: number, x: number): void {
    if (!this.fingers.has(pointer)) return;
    this.fingers.set(pointer, x);
    if (!this.held || this.fingers.size !== 2) return;
    const { view, limits } = this.scene;
    const [left, right] = this.places();
    const apart = right! - left!;
    if (Math.abs(apart) < 8) return; // fingers this close say nothing of a scale
    const perPixel = (this.held[1] - this.held[0]) / apart;
    if (perPixel <= 0) return;
    const begin = this.held[0] - left! * perPixel;
    this.setView(fitted(view, begin, begin + view.width * perPixel, limits));
  }

  up(pointer: number): void {
    this.fingers.delete(pointer);
    this.held = null;
  }

  private places(): number[] {
    return [...this.fingers.values()].map((x) => x - this.scene.left);
  }
}
