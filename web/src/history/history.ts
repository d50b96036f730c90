import type { HistoryMetric, Samples } from "../serve/api";
import { thin, type Line } from "./thin";

// The samples that a page has seen, oldest first: columns of numbers, NaN where a figure was not known. It grows to
// kMost samples, then forgets the oldest quarter: four hours at 10 Hz are always there. Times are milliseconds since 1970.

export const kMetrics: readonly HistoryMetric[] = ["utilization_percent", "memory_used_bytes", "temperature_celsius", "power_watts"];
export type Figures = Partial<Record<HistoryMetric, number | null>>;

const kFirst = 4096;
const kMost = 196_608;

export class History {
  length = 0;
  private times = new Float64Array(kFirst);
  private readonly columns = new Map<string, Record<HistoryMetric, Float32Array>>(); // by UUID
  private readonly known = new Map<string, Set<HistoryMetric>>(); // by UUID: what had a value once

  // The time of the first and the last sample; NaN without any.
  get begin(): number {
    return this.length > 0 ? this.times[0]! : NaN;
  }
  get end(): number {
    return this.length > 0 ? this.times[this.length - 1]! : NaN;
  }

  clear(): void {
    this.length = 0;
    this.columns.clear();
    this.known.clear();
  }

  // What is not later than the last sample is known already.
  append(timeMs: number, devices: Iterable<[uuid: string, figures: Figures]>): void {
    if (timeMs <= this.end) return;
    if (this.length === this.times.length) this.makeRoom();
    const at = this.length++;
    this.times[at] = timeMs;
    for (const column of this.columns.values()) for (const metric of kMetrics) column[metric][at] = NaN;
    for (const [uuid, figures] of devices) {
      const column = this.columnOf(uuid);
      for (const metric of kMetrics) {
        const value = figures[metric] ?? NaN;
        column[metric][at] = value;
        if (!Number.isNaN(value)) this.known.get(uuid)!.add(metric);
      }
    }
  }

  appendAll({ times_ms, devices }: Samples): void {
    const columns = Object.entries(devices);
    times_ms.forEach((time, at) => {
      const figuresOf = (column: Samples["devices"][string]): Figures =>
        Object.fromEntries(kMetrics.map((metric) => [metric, column[metric][at] ?? null]));
      this.append(time, columns.map(([uuid, column]) => [uuid, figuresOf(column)]));
    });
  }

  // Whether the figure was ever known.
  knows(uuid: string, metric: HistoryMetric): boolean {
    return this.known.get(uuid)?.has(metric) ?? false;
  }

  // A figure of a device from one time to another, thinned to what `pixels` can show.
  line(uuid: string, metric: HistoryMetric, from: number, to: number, pixels: number, gapMs: number): Line {
    const values = this.columns.get(uuid)?.[metric] ?? new Float32Array(0);
    return thin(this.times.subarray(0, this.length), values, from, to, pixels, gapMs);
  }

  // How far apart samples are, as a rule: the median of the last steps.
  get step(): number {
    const from = Math.max(1, this.length - 100);
    const steps = Array.from(this.times.subarray(from, this.length), (time, at) => time - this.times[from + at - 1]!);
    return steps.sort((a, b) => a - b)[steps.length >> 1] ?? NaN;
  }

  private columnOf(uuid: string): Record<HistoryMetric, Float32Array> {
    let column = this.columns.get(uuid);
    if (!column) {
      const empty = () => new Float32Array(this.times.length).fill(NaN);
      column = { utilization_percent: empty(), memory_used_bytes: empty(), temperature_celsius: empty(), power_watts: empty() };
      this.columns.set(uuid, column);
      this.known.set(uuid, new Set());
    }
    return column;
  }

  // Twice as much, or the oldest quarter forgotten; so a sample costs the same, however many there are.
  private makeRoom(): void {
    if (this.times.length < kMost) {
      const size = Math.min(2 * this.times.length, kMost);
      const grown = new Float64Array(size);
      grown.set(this.times);
      this.times = grown;
      for (const column of this.columns.values()) {
        for (const metric of kMetrics) {
          const values = new Float32Array(size).fill(NaN);
          values.set(column[metric]);
          column[metric] = values;
        }
      }
      return;
    }
    const forgotten = this.length >> 2;
    this.times.copyWithin(0, forgotten);
    for (const column of this.columns.values()) for (const metric of kMetrics) column[metric].copyWithin(0, forgotten);
    this.length -= forgotten;
  }
}
