import type { Part, Scope } from "../summary";
import { walkNested } from "./nesting";
import { numberOf, type Entry, type Figures, type Profile } from "./read";

// The definitions of src/analyze/run/profile.h, for a profile that is dropped onto the page.

// One row per operation, that of the largest weight first: the profile's own figures, which hold however
// many entries were dropped; what they do not say is counted from the entries, where those are all of the
// operation's calls.
export function scopesOf(profile: Profile): Scope[] {
  const counted = countEntries(profile.entries);
  const scopes = profile.figures.length === 0
    ? [...counted.values()]
    : profile.figures.map((figures) => fromFigures(figures, counted.get(figures.operation)));
  scopes.sort((a, b) => weightOf(b) - weightOf(a) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const whole = scopes.reduce((sum, scope) => sum + weightOf(scope), 0);
  return scopes.map((scope) => ({
    ...scope,
    part: dominant(scope),
    share_pct: whole > 0 ? (weightOf(scope) / whole) * 100 : null,
    mean_ns: scope.total_ns === null || scope.calls === 0 ? null : scope.total_ns / scope.calls,
  }));
}

// What a scope is ranked by.
export const weightOf = (scope: Scope): number => scope.self_ns ?? scope.total_ns ?? 0;

// The part that a scope spends the most of its time on.
function dominant(scope: Scope): Part {
  const parts: [Part, number][] = [
    ["cpu", scope.cpu_ns ?? 0], ["gpu", scope.gpu_ns ?? 0], ["transfer", scope.transfer_ns ?? 0], ["overhead", scope.overhead_ns ?? 0],
  ];
  return parts.reduce((best, part) => (part[1] > best[1] ? part : best))[0];
}

function fromFigures({ operation, fields }: Figures, counted: Scope | undefined): Scope {
  const time = (name: string): number | null => {
    const ms = numberOf(fields[name]);
    return ms === null ? null : ms * 1e6;
  };
  const count = (name: string): number | null => {
    const number = numberOf(fields[name]);
    return number === null || number < 0 ? null : Math.trunc(number);
  };
  const calls = count("call_count") || (counted?.calls ?? 0);
  const entries = counted?.calls === calls ? counted : undefined;
  const mean = time("avg_time_ms");
  return {
    ...kUnknown,
    name: operation,
    calls,
    errors: count("error_count"),
    total_ns: time("total_time_ms") ?? (mean === null ? null : mean * calls),
    self_ns: time("self_time_ms") ?? entries?.self_ns ?? null,
    min_ns: time("min_time_ms"),
    max_ns: time("max_time_ms"),
    p50_ns: time("p50_ms") ?? time("p50") ?? entries?.p50_ns ?? null,
    p99_ns: time("p99_ms") ?? time("p99") ?? entries?.p99_ns ?? null,
    gpu_ns: time("total_gpu_time_ms"),
    cpu_ns: time("total_cpu_time_ms"),
    transfer_ns: time("total_transfer_time_ms"),
    overhead_ns: time("total_overhead_ms"),
  };
}

// What is worked out of the others once all scopes are known.
const kUnknown: Pick<Scope, "part" | "share_pct" | "mean_ns"> = { part: "cpu", share_pct: null, mean_ns: null };

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
      ...kUnknown,
      name,
      calls: group.length,
      errors: null,
      total_ns: durations.reduce((total, ns) => total + ns, 0),
      self_ns: group.reduce((total, index) => total + self[index]!, 0),
      min_ns: durations[0] ?? null,
      max_ns: durations.at(-1) ?? null,
      p50_ns: quantile(durations, 0.5),
      p99_ns: quantile(durations, 0.99),
      gpu_ns: sum((entry) => entry.gpu_ns),
      cpu_ns: sum((entry) => entry.cpu_ns),
      transfer_ns: sum((entry) => entry.transfer_ns),
      overhead_ns: sum((entry) => entry.overhead_ns),
    });
  }
  return scopes;
}

// Between two neighbours by linear interpolation, as the writer of profiles does it.
function quantile(sorted: number[], q: number): number | null {
  if (sorted.length === 0) return null;
  const at = q * (sorted.length - 1);
  const low = sorted[Math.floor(at)]!;
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at));
}

const sumKnown = (values: (number | null)[]): number | null =>
  values.every((value) => value === null) ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

// What is left of each entry's time without what the entries inside it cover, by thread.
function selfTimes(entries: Entry[]): number[] {
  const self = entries.map((entry) => entry.end_ns - entry.start_ns);
  const coveredTo = entries.map((entry) => entry.start_ns);
  walkNested(entries, (index, parent) => {
    if (parent === null) return;
    const { start_ns, end_ns } = entries[index]!;
    const from = Math.max(start_ns, coveredTo[parent]!);
    if (end_ns <= from) return;
    self[parent]! -= end_ns - from;
    coveredTo[parent] = end_ns;
  });
  return self;
}

// Entries that no other of their thread contains.
export function outermost(entries: Entry[]): Entry[] {
  const found: Entry[] = [];
  walkNested(entries, (index, parent) => {
    if (parent === null) found.push(entries[index]!);
  });
  return found;
}
