import { pixelOf, type View } from "../canvas/view";
import type { Counter } from "./decode";

// What a counter was in a stretch of time.
export interface Level {
  low: number;
  mean: number; // over time
  high: number;
}

// What a counter was within a pixel; null before its first time and after its last.
export const levelAt = (counter: Counter, view: View, pixel: number): Level | null => new Levels(counter, view).at(pixel);

// Asked for pixels from left to right, it goes through the points once.
export class Levels {
  private next: number;
  private readonly end: number;

  constructor(private readonly counter: Counter, private readonly view: View) {
    const { times_ns: times } = counter;
    this.next = firstSeen(times, view.begin);
    this.end = pixelOf(view, times.at(-1)!);
  }

  at(pixel: number): Level | null {
    const { times_ns: times, values, low = values, high = values } = this.counter;
    const perPixel = (this.view.end - this.view.begin) / this.view.width;
    const from = this.view.begin + pixel * perPixel;
    const to = from + perPixel;
    if (to < times[0]! || pixel > this.end) return null;
    while (this.next + 1 < times.length && times[this.next + 1]! <= from) ++this.next;
    const level: Level = { low: Infinity, mean: 0, high: -Infinity };
    let known = 0;
    for (let i = this.next; i < times.length && times[i]! < to; ++i) {
      const end = i + 1 < times.length ? times[i + 1]! : to;
      const seen = Math.min(to, end) - Math.max(from, times[i]!);
      level.low = Math.min(level.low, low[i]!);
      level.high = Math.max(level.high, high[i]!);
      level.mean += values[i]! * Math.max(0, seen);
      known += Math.max(0, seen);
    }
    if (level.high === -Infinity) return null;
    level.mean = known > 0 ? level.mean / known : values[this.next]!;
    return level;
  }
}

// The last point at or before a time: its value holds there.
function firstSeen(times: number[], at: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
