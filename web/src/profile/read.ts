// Reads profile JSON (docs/profile.schema.json), as leniently as trace/read/profile_json.cpp: any part
// may be missing, a bare array of entries will do, and what is of the wrong type is unknown.

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
  if (isFields(root) && Array.isArray(root["traceEvents"])) {
    throw new Error("This is a trace, not a profile. Run: fathom report TRACE -o report.html");
  }
  const entries = Array.isArray(root) ? root : isFields(root) ? root["entries"] : undefined;
  const summary = isFields(root) ? root["summary"] : undefined;
  if (!Array.isArray(entries) && !isFields(summary)) {
    throw new Error("Not a profile: it has neither entries nor a summary.");
  }
  const figures = isFields(summary) ? Object.entries(summary) : [];
  return {
    version: isFields(root) ? textOf(root["fathom"]) : null,
    run: isFields(root) && isFields(root["run"]) ? root["run"] : {},
    entries: readEntries(Array.isArray(entries) ? entries.filter(isFields) : []),
    figures: figures.flatMap(([operation, fields]) => (isFields(fields) ? [{ operation, fields }] : [])),
  };
}

function parse(text: string): unknown {
  try {
    // The schema has no NaN, but older profilers write it.
    return JSON.parse(text.replace(/([:,[]\s*)(?:-?Infinity|NaN)\b/g, "$1null"));
  } catch {
    throw new Error("Not a profile: it is not JSON.");
  }
}

function readEntries(rows: Fields[]): Entry[] {
  let last = 0; // entries without times follow each other
  const entries = rows.map((row) => {
    const duration = (numberOf(row["duration_ms"]) ?? 0) * 1e6;
    const start = timeOf(row["start_time"]);
    const end = timeOf(row["end_time"]);
    const start_ns = start ?? (end === null ? last : end - duration);
    const end_ns = end ?? start_ns + duration;
    last = end_ns;
    return {
      operation: textOf(row["operation"]) ?? "(no name)",
      thread: String(row["thread"] ?? ""),
      start_ns,
      end_ns: Math.max(start_ns, end_ns),
      gpu_ns: timesMillion(row["gpu_time_ms"]),
      cpu_ns: timesMillion(row["cpu_time_ms"]),
      transfer_ns: timesMillion(row["transfer_time_ms"]),
      overhead_ns: timesMillion(row["overhead_ms"]),
      memory_bytes: timesMillion(row["memory_allocated_mb"]),
      peak_bytes: timesMillion(row["memory_peak_mb"]),
    };
  });
  const first = entries.reduce((least, entry) => Math.min(least, entry.start_ns), Infinity);
  return entries.map((entry) => ({ ...entry, start_ns: entry.start_ns - first, end_ns: entry.end_ns - first }));
}

// Seconds, or whole nanoseconds where the number is that large.
function timeOf(value: unknown): number | null {
  const number = numberOf(value);
  if (number === null) return null;
  return Math.abs(number) >= 1e17 ? number : number * 1e9;
}

export function numberOf(value: unknown): number | null {
  const number = typeof value === "string" && value.trim() ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

// Milliseconds to nanoseconds, and megabytes to bytes.
export function timesMillion(value: unknown): number | null {
  const number = numberOf(value);
  return number === null ? null : number * 1e6;
}

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
