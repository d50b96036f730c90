import type { Scope } from "../summary";
import { numberOf, timesMillion, type Entry, type Fields, type Figures, type Profile } from "./read";

// One row an operation: the profile's own figures, which hold however many entries were dropped; what
// they do not say is counted from the entries.
export function scopesOf(profile: Profile): Scope[] {
  const counted = countEntries(profile.entries);
  if (profile.figures.length === 0) return [...counted.values()];
  return profile.figures.map((figures) => fromFigures(figures, counted.get(figures.operation)));
}

function fromFigures({ operation, fields }: Figures, counted: Scope | undefined): Scope {
  const time = (name: string) => timesMillion(fields[name]);
  const calls = numberOf(fields["call_count"]) ?? counted?.calls ?? 0;
  const mean = time("avg_time_ms");
  return {
    name: operation,
    calls,
    errors: numberOf(fields["error_count"]),
    total_ns: time("total_time_ms") ?? (mean === null ? null : mean * calls),
    self_ns: time("self_time_ms") ?? counted?.self_ns ?? null,
    min_ns: time("min_time_ms"),
    max_ns: time("max_time_ms"),
    p50_ns: quantile(fields, "p50") ?? counted?.p50_ns ?? null,
    p99_ns: quantile(fields, "p99") ?? counted?.p99_ns ?? null,
    gpu_ns: time("total_gpu_time_ms"),
    cpu_ns: time("total_cpu_time_ms"),
    transfer_ns: time("total_transfer_time_ms"),
    overhead_ns: time("total_overhead_ms"),
    peak_memory_mb: numberOf(fields["peak_memory_mb"]),
  };
}

const quantile = (fields: Fields, name: string): number | null => timesMillion(fields[`${name}_ms`] ?? fields[`${name}_time_ms`] ?? fields[name]);

function countEntries(entries: Entry[]): Map<string, Scope> {
  const self = selfTimes(entries);
  const groups = new Map<string, number[]>();
  entries.forEach((entry, index) => {
    const group = groups.get(entry.operation);
    if (group) group.push(index);
    else groups.set(entry.operation, [index]);
  });
  const scopes = new Map<string, Scope>();
  for (const [name, group] of groups) {
    const durations = group.map((index) => entries[index]!.end_ns - entries[index]!.start_ns).sort((a, b) => a - b);
    const sum = (value: (entry: Entry) => number | null) => sumKnown(group.map((index) => value(entries[index]!)));
    scopes.set(name, {
      name,
      calls: group.length,
      errors: null,
      total_ns: durations.reduce((total, ns) => total + ns, 0),
      self_ns: group.reduce((total, index) => total + self[index]!, 0),
      min_ns: durations[0] ?? null,
      max_ns: durations.at(-1) ?? null,
      p50_ns: rank(durations, 0.5),
      p99_ns: rank(durations, 0.99),
      gpu_ns: sum((entry) => entry.gpu_ns),
      cpu_ns: sum((entry) => entry.cpu_ns),
      transfer_ns: sum((entry) => entry.transfer_ns),
      overhead_ns: sum((entry) => entry.overhead_ns),
      peak_memory_mb: null,
    });
  }
  return scopes;
}

// Between two neighbours by linear interpolation, as the writer of profiles does it.
function rank(sorted: number[], q: number): number | null {
  if (sorted.length === 0) return null;
  const at = q * (sorted.length - 1);
  const low = sorted[Math.floor(at)]!;
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at));
}

const sumKnown = (values: (number | null)[]): number | null =>
  values.every((value) => value === null) ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

// What is left of each entry's time without the entries inside it, by thread.
function selfTimes(entries: Entry[]): number[] {
  const self = entries.map((entry) => entry.end_ns - entry.start_ns);
  walkNested(entries, (index, parent) => {
    if (parent !== null) self[parent]! -= entries[index]!.end_ns - entries[index]!.start_ns;
  });
  return self.map((ns) => Math.max(0, ns));
}

// Entries that no other of their thread contains.
export function outermost(entries: Entry[]): Entry[] {
  const found: Entry[] = [];
  walkNested(entries, (index, parent) => {
    if (parent === null) found.push(entries[index]!);
  });
  return found;
}

function walkNested(entries: Entry[], visit: (index: number, parent: number | null) => void): void {
  const order = entries.map((_, index) => index).sort((left, right) => {
    const a = entries[left]!;
    const b = entries[right]!;
    if (a.thread !== b.thread) return a.thread < b.thread ? -1 : 1;
    return a.start_ns - b.start_ns || b.end_ns - a.end_ns;
  });
  let open: number[] = [];
  let thread: string | null = null;
  for (const index of order) {
    const entry = entries[index]!;
    if (entry.thread !== thread) open = [];
    thread = entry.thread;
    while (open.length > 0 && entries[open.at(-1)!]!.end_ns < entry.end_ns) open.pop();
    visit(index, open.at(-1) ?? null);
    open.push(index);
  }
}
