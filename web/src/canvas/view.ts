// The part of a line that is seen, on `width` pixels; and the ways to move along it. The line is time
// for the timeline, weight for the flame graph.

export interface View {
  begin: number;
  end: number;
  width: number; // pixels
}

// How far a view may go: never past the line, never closer than `least`.
export interface Limits {
  begin: number;
  end: number;
  least: number;
}

export const scaleOf = (view: View): number => view.width / (view.end - view.begin);
export const pixelOf = (view: View, at: number): number => (at - view.begin) * scaleOf(view);
export const valueAt = (view: View, pixel: number): number => view.begin + pixel / scaleOf(view);

export function fitted(view: View, begin: number, end: number, limits: Limits): View {
  const whole = Math.max(limits.end - limits.begin, limits.least);
  const length = Math.min(Math.max(end - begin, limits.least), whole);
  const middle = (begin + end) / 2;
  const from = Math.min(Math.max(middle - length / 2, limits.begin), limits.begin + whole - length);
  return { ...view, begin: from, end: from + length };
}

// Closer (factor < 1) or farther, keeping the value `at` where it is on the screen.
export function zoomed(view: View, factor: number, at: number, limits: Limits): View {
  const whole = Math.max(limits.end - limits.begin, limits.least);
  const now = view.end - view.begin;
  const length = Math.min(Math.max(now * factor, limits.least), whole);
  const begin = at - ((at - view.begin) / now) * length;
  return fitted(view, begin, begin + length, limits);
}

export const moved = (view: View, by: number, limits: Limits): View => {
  const length = view.end - view.begin;
  const begin = Math.min(Math.max(view.begin + by, limits.begin), Math.max(limits.begin, limits.end - length));
  return { ...view, begin, end: begin + length };
};
