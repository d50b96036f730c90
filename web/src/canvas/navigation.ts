import { Pinch } from "./pinch";
import { fitted, moved, valueAt, zoomed, type Limits, type View } from "./view";

// Pointer, wheel and keys, the same for timeline and flame graph:
//   wheel         closer or farther at the pointer; sideways, or with shift: along
//   two fingers   closer or farther, what is under them stays there
//   drag          along and up or down; with shift, or on the ruler: marks a stretch, and zooms to it or selects it
//   W S, A D      closer, farther, left, right; arrows left and right too, up and down scroll, unless the scene has them walk
//   0, Home       everything
// Keys go to the canvas that has the focus; where none has, to the main one of the page.
export interface Scene {
  view: View;
  readonly limits: Limits;
  readonly left: number; // pixels before the line begins
  readonly ruler: number; // pixels from the top on which a drag marks a stretch
  marked: [number, number] | null; // what is being marked, in values
  changed(): void; // view or mark moved
  click(x: number, y: number): void;
  doubleClick(x: number, y: number): void;
  hover(x: number, y: number): void; // x < 0: the pointer left
  press?(x: number, y: number): ((x: number, y: number) => void) | null; // takes the drag over
  // Takes what is being marked over, and in the end what was marked; on the ruler without heights.
  mark?(values: [number, number], heights: [number, number] | null, isDone: boolean): void;
  readonly isMain: boolean; // has the keys of the window
  readonly keys?: Record<string, () => boolean | void>; // before those below, which hold where one says false
}

const kClickPixels = 4;

export function navigate(canvas: HTMLCanvasElement, scroller: HTMLElement, scene: Scene): () => void {
  const stop = new AbortController();
  const options = { signal: stop.signal };
  const setView = (view: View) => {
    scene.view = view;
    scene.changed();
  };
  const place = (event: MouseEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  const wheel = (event: WheelEvent) => {
    const [x] = place(event);
    if (x < scene.left) return; // beside the line, the wheel scrolls
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    const length = scene.view.end - scene.view.begin;
    const along = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      setView(moved(scene.view, (along * unit * length) / scene.view.width, scene.limits));
    } else {
      const factor = Math.exp(Math.max(-1, Math.min(1, event.deltaY * unit * 0.0022)));
      setView(zoomed(scene.view, factor, valueAt(scene.view, x - scene.left), scene.limits));
    }
  };

  const pinch = new Pinch(scene, setView);
  let drag = new AbortController(); // of the finger or button that is down

  const press = (event: PointerEvent) => {
    if (event.button !== 0) return;
    if (pinch.down(event.pointerId, place(event)[0])) {
      drag.abort();
      scene.marked = null;
      return;
    }
    canvas.focus({ preventScroll: true, focusVisible: false } as FocusOptions);
    const [x0, y0] = place(event);
    const before = scene.view;
    const scrolled = scroller.scrollTop;
    const taken = scene.press?.(x0, y0) ?? null;
    const marking = !taken && x0 >= scene.left && (event.shiftKey || y0 < scene.ruler);
    const mark = (x: number, y: number, isDone: boolean) => {
      const values = [x0, x].map((pixel) => valueAt(before, Math.max(0, Math.min(before.width, pixel - scene.left)))).sort((a, b) => a - b) as [number, number];
      if (scene.mark) return scene.mark(values, y0 < scene.ruler ? null : [Math.min(y0, y), Math.max(y0, y)], isDone);
      scene.marked = isDone ? null : values;
      if (isDone) setView(fitted(scene.view, values[0], values[1], scene.limits));
      else scene.changed();
    };
    let dragged = false;
    canvas.setPointerCapture(event.pointerId);
    drag = new AbortController();
    const move = (at: PointerEvent) => {
      const [x, y] = place(at);
      dragged ||= Math.hypot(x - x0, y - y0) >= kClickPixels;
      if (taken) return taken(x, y);
      if (!dragged) return;
      if (marking) return mark(x, y, false);
      const perPixel = (before.end - before.begin) / before.width;
      scroller.scrollTop = scrolled - (y - y0);
      setView(moved(before, (x0 - x) * perPixel, scene.limits));
    };
    const release = (at: PointerEvent) => {
      drag.abort();
      if (marking && dragged) mark(...place(at), true);
      else if (!dragged && !taken) scene.click(...place(at));
    };
    canvas.addEventListener("pointermove", move, { signal: drag.signal });
    canvas.addEventListener("pointerup", release, { signal: drag.signal });
    canvas.addEventListener("pointercancel", () => drag.abort(), { signal: drag.signal });
  };

  canvas.addEventListener("wheel", wheel, { ...options, passive: false });
  canvas.addEventListener("pointerdown", press, options);
  canvas.addEventListener("dblclick", (event) => scene.doubleClick(...place(event)), options);
  canvas.addEventListener("pointermove", (event) => { if (event.buttons === 0) scene.hover(...place(event)); }, options);
  canvas.addEventListener("pointermove", (event) => pinch.move(event.pointerId, place(event)[0]), options);
  canvas.addEventListener("pointerup", (event) => pinch.up(event.pointerId), options);
  canvas.addEventListener("pointercancel", (event) => pinch.up(event.pointerId), options);
  canvas.addEventListener("pointerleave", () => scene.hover(-1, -1), options);
  addEventListener("keydown", (event) => { if (isFor(event, scene, canvas)) key(event, scene, scroller, setView); }, options);
  return () => stop.abort();
}

// What is typed, scrolled or pressed elsewhere is not for the canvas.
function isFor(event: KeyboardEvent, scene: Scene, canvas: HTMLCanvasElement): boolean {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (target === canvas) return true;
  if (!scene.isMain) return false;
  if (!(target instanceof Element)) return true;
  if (target.closest("input, select, textarea, a, dialog, canvas, .scroller, .menu")) return false;
  return !(event.key === "Enter" && target.closest("button, summary"));
}

function key(event: KeyboardEvent, scene: Scene, scroller: HTMLElement, setView: (view: View) => void): void {
  const { view, limits } = scene;
  const step = (view.end - view.begin) * (event.shiftKey ? 0.5 : 0.15);
  const middle = (view.begin + view.end) / 2;
  const actions: Record<string, () => void> = {
    w: () => setView(zoomed(view, 0.75, middle, limits)),
    s: () => setView(zoomed(view, 1 / 0.75, middle, limits)),
    a: () => setView(moved(view, -step, limits)),
    d: () => setView(moved(view, step, limits)),
    arrowleft: () => setView(moved(view, -step, limits)),
    arrowright: () => setView(moved(view, step, limits)),
    arrowup: () => scroller.scrollBy(0, -60),
    arrowdown: () => scroller.scrollBy(0, 60),
    home: () => setView(fitted(view, limits.begin, limits.end, limits)),
    0: () => setView(fitted(view, limits.begin, limits.end, limits)),
  };
  const name = event.key.toLowerCase();
  const own = scene.keys?.[name];
  if (own && own() !== false) return event.preventDefault();
  if (!actions[name]) return;
  event.preventDefault();
  actions[name]();
}
