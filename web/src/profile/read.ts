import { kBytesPerMb } from "../format";

// Reads profile JSON (docs/profile.schema.json), as leniently as src/trace/read/profile/profile_json.cpp: any
// part may be missing, a bare array of entries will do, and what is of the wrong type is unknown.

// One scope, in whole nanoseconds and bytes, so that sums are exact in any order.
export interface Entry {
  operation: string;
  thread: string;
  start_ns: number; // from the first start
  end_ns: number;
  gpu_ns: number | null;
  cpu_ns: number | null;
  transfer_ns: number | null;
  overhead_ns: number | null;
  memory_bytes: number | null;
  peak_bytes: number | null;
}

export interface Figures {
  operation: string;
  fields: Fields;
}

export interface Profile {
  version: string | null;
  run: Fields;
  entries: Entry[];
  figures: Figures[];
}

export type Fields = Record<string, unknown>;

export function readProfile(text: string): Profile {
  const root = parse(text);
  if (isTrace(root)) throw new Error("This is a trace, not a profile.");
  const entries = Array.isArray(root) ? root : isFields(root) ? root["entries"] : undefined;
  const summary = isFields(root) ? root["summary"] : undefined;
  if (!Array.isArray(entries) && !isFields(summary) && !Array.isArray(summary)) {
    throw new Error("Not a profile: it has neither entries nor a summary.");
  }
  return {
    version: isFields(root) ? textOf(root["fathom"]) : null,
    run: isFields(root) && isFields(root["run"]) ? root["run"] : {},
    entries: readEntries(Array.isArray(entries) ? entries.filter(isFields) : []),
    figures: readFigures(summary),
  };
}

// Of Chrome's format: an object or, bare, a list of events that each have a phase.
const isTrace = (root: unknown): boolean =>
  (isFields(root) && Array.isArray(root["traceEvents"])) ||
  (Array.isArray(root) && root.some((event) => isFields(event) && "ph" in event && !("operation" in event)));

// {operation: figures}, or a list of figures that name their operation.
function readFigures(summary: unknown): Figures[] {
  const named = Array.isArray(summary) ? summary.map((fields) => ["", fields] as const) : isFields(summary) ? Object.entries(summary) : [];
  return named.flatMap(([key, fields]) => (isFields(fields) ? [{ operation: textOf(fields["operation"]) ?? key, fields }] : []));
}

function parse(text: string): unknown {
  try {
    // The schema has no NaN, but older profilers write it. Times have more digits than a number holds, so
    // they are kept as text.
    return JSON.parse(
      text
        .replace(/([:,[]\s*)(?:-?Infinity|NaN)\b/g, "$1null")
        .replace(/("(?:start_time|end_time|duration_ms)"\s*:\s*)(-?[\d.][\d.eE+-]*)/g, '$1"$2"'),
    );
  } catch {
    throw new Error("Not a profile: it is not JSON.");
  }
}

const kUnixTimesFrom = 10n ** 17n; // ns; 1973, if it is one

function readEntries(rows: Fields[]): Entry[] {
  const ends = new Map<string, bigint>(); // by thread: entries without times follow each other
  const timed = rows.flatMap((row) => {
    const thread = String(row["thread"] ?? "");
    const duration = scaled(row["duration_ms"], 6);
    const start = timeOf(row["start_time"]);
    const end = timeOf(row["end_time"]);
    if (duration === null && (start === null || end === null)) return []; // nothing says how long it took
    const begin = start ?? (end === null ? (ends.get(thread) ?? 0n) : end - (duration ?? 0n));
    const length = start !== null && end !== null ? end - start : (duration ?? 0n);
    if (length < 0n) return [];
    const last = ends.get(thread) ?? 0n;
    ends.set(thread, begin + length > last ? begin + length : last);
    return [{ row, thread, begin, length }];
  });
  const first = timed.reduce<bigint | null>((least, { begin }) => (least === null || begin < least ? begin : least), null) ?? 0n;
  return timed.map(({ row, thread, begin, length }) => ({
    operation: textOf(row["operation"]) ?? "",
    thread,
    start_ns: Number(begin - first),
    end_ns: Number(begin + length - first),
    gpu_ns: nanoseconds(row["gpu_time_ms"]),
    cpu_ns: nanoseconds(row["cpu_time_ms"]),
    transfer_ns: nanoseconds(row["transfer_time_ms"]),
    overhead_ns: nanoseconds(row["overhead_ms"]),
    memory_bytes: bytes(row["memory_allocated_mb"]),
    peak_bytes: bytes(row["memory_peak_mb"]),
  }));
}

// Seconds; or whole nanoseconds, as no time in seconds is so large.
function timeOf(value: unknown): bigint | null {
  const whole = typeof value === "string" && /^-?\d+$/.test(value) ? BigInt(value) : 0n;
  return whole >= kUnixTimesFrom || whole <= -kUnixTimesFrom ? whole : scaled(value, 9);
}

// Decimal text as a whole number of 10^-digits, exactly; what is beyond is rounded half up.
function scaled(value: unknown, digits: number): bigint | null {
  const parts = typeof value === "string" ? /^\s*([-+]?)(\d*)\.?(\d*)(?:[eE]([-+]?\d{1,5}))?\s*$/.exec(value) : null;
  if (!parts || !(parts[2] || parts[3])) return null;
  const kept = parts[2]!.length + Number(parts[4] ?? 0) + digits;
  if (kept > 19) return null; // beyond what 64 bits hold
  const all = `${parts[2]}${parts[3]}`.padEnd(Math.max(0, kept), "0");
  const size = kept < 0 ? 0n : BigInt(all.slice(0, kept) || "0") + (Number(all[kept] ?? 0) >= 5 ? 1n : 0n);
  return parts[1] === "-" ? -size : size;
}

export function numberOf(value: unknown): number | null {
  const number = typeof value === "string" && value.trim() ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

const times = (value: unknown, scale: number): number | null => {
  const number = numberOf(value);
  return number === null ? null : Math.round(number * scale);
};
const nanoseconds = (ms: unknown): number | null => times(ms, 1e6);
const bytes = (mb: unknown): number | null => times(mb, kBytesPerMb);

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
