// What `fathom serve` answers: docs/openapi.yaml as the page uses it. A figure that is not known is absent; in the columns
// of a history it is null. Times are since 1970.

export type Role = "metrics" | "viewer" | "admin";

export interface Me {
  role: Role | null;
}

export interface Process {
  pid: number;
  name: string;
  command?: string; // for admins alone
  memory_bytes?: number;
  utilization_percent?: number;
}

export interface Device {
  index: number;
  uuid: string;
  name: string;
  vendor: string;
  type: string;
  backend: string;
  state: "ok" | "suspended" | "lost" | "no_permission";
  pci_address?: string;
  driver?: string;
  memory_total_bytes?: number;
  memory_used_bytes?: number;
  memory_reserved_bytes?: number;
  utilization_percent?: number;
  memory_utilization_percent?: number;
  encoder_percent?: number;
  decoder_percent?: number;
  temperature_celsius?: number;
  memory_temperature_celsius?: number;
  slowdown_celsius?: number;
  shutdown_celsius?: number;
  power_watts?: number;
  power_limit_watts?: number;
  core_clock_hz?: number;
  memory_clock_hz?: number;
  max_core_clock_hz?: number;
  fan_percent?: number;
  fan_rpm?: number;
  throttle?: string[];
  ecc_corrected?: number;
  ecc_uncorrected?: number;
  last_error?: { xid: number; time_ns: number }; // since it is watched
  needs_reset?: boolean;
  age_seconds?: number;
  processes: Process[];
  processes_are_partial?: boolean;
}

export interface Alert {
  id: number;
  kind: string;
  severity: "warning" | "critical";
  uuid: string;
  device: string;
  raised_ns: number;
  cleared_ns?: number; // absent while it lasts
  message: string; // what is said of the device: "does not answer any more"
  cause: string; // a sentence, or empty
}

export interface Backend {
  name: string;
  is_up: boolean;
  problem: string; // empty while all is well
}

export interface Status {
  fathom: string;
  time_ns: number | null; // null before the first sample
  demo: boolean;
  interval_seconds: number;
  devices: Device[];
  alerts: Alert[]; // those that last, and the last of those that do not
  backends: Backend[];
}

// What a history has of each device.
export type HistoryMetric = "utilization_percent" | "memory_used_bytes" | "temperature_celsius" | "power_watts";
export type Columns = { name: string } & Record<HistoryMetric, (number | null)[]>;

export interface Samples {
  times_ms: number[];
  devices: Record<string, Columns>; // by UUID
}

export interface Inference {
  count: number;
  sum_ms: number;
  mean_ms?: number;
  min_ms?: number;
  max_ms?: number;
  p50_ms?: number;
  p95_ms?: number;
  p99_ms?: number;
}

export interface Session {
  id: string;
  name: string;
  description: string;
  started_ns: number;
  stopped_ns?: number; // absent while it runs
  was_interrupted: boolean; // the server died while it ran
  snapshots: number;
  alerts: number;
  inference: Inference;
}

export interface Range {
  least?: number;
  mean?: number;
  most?: number;
}

export interface SessionReport {
  session: Session;
  alerts: Alert[];
  metrics: Record<string, Record<string, Range>>; // by UUID, then by metric
  suggestions: { kind: string; title: string; detail: string; evidence: string }[];
  history: Samples;
}

export interface FileEntry {
  name: string;
  bytes: number;
  modified_ns: number;
  is_openable: boolean;
}

export interface FileList {
  files: FileEntry[];
  is_complete: boolean; // false where there are more than are listed
  upload_limit_bytes?: number; // absent where no folder was named
}

// Where a trace of the folder is shown; a folder within it is part of the name.
export const traceAddress = (name: string): string => `/trace/${encodeURIComponent(name)}`;

// With its full stop; the server leaves it to those who show it.
export const sentence = (text: string): string => (text === "" || /[.…?]$/.test(text) ? text : `${text}.`);

// Why the server refused, in its sentence; status 0 where it did not answer at all.
export class Refusal extends Error {
  constructor(readonly status: number, why: string) {
    super(sentence(why));
  }
}

const kNoAnswer = "The server does not answer.";

// Who wants to know that the server does not know us any more.
let tellLoggedOut = () => {};
export const onLoggedOut = (callback: () => void): void => { tellLoggedOut = callback; };

// The JSON that the server answers to GET, or to POST, of nothing or of `body`. Throws a Refusal.
export async function ask<T>(path: string, post?: { body?: unknown }): Promise<T> {
  const sent = post?.body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(post.body) };
  const answer = await fetch(path, post ? { method: "POST", ...sent } : {}).catch(() => {
    throw new Refusal(0, kNoAnswer);
  });
  if (answer.ok) return (await answer.json()) as T;
  if (answer.status === 401 && path !== "/api/login") tellLoggedOut();
  throw new Refusal(answer.status, reasonOf(await answer.text(), answer.status));
}

export interface Upload {
  done: Promise<FileEntry>; // rejects with a Refusal
  cancel: () => void;
}

// Sends a file to the folder. XMLHttpRequest, because fetch does not tell how far it is.
export function upload(file: File, progress: (share: number) => void): Upload {
  const request = new XMLHttpRequest();
  const done = new Promise<FileEntry>((resolve, reject) => {
    request.upload.onprogress = (event) => progress(event.total > 0 ? event.loaded / event.total : 0);
    request.onload = () => {
      if (request.status === 201) return resolve(JSON.parse(request.responseText) as FileEntry);
      if (request.status === 401) tellLoggedOut();
      reject(new Refusal(request.status, reasonOf(request.responseText, request.status)));
    };
    request.onerror = () => reject(new Refusal(0, "The connection broke off."));
    request.onabort = () => reject(new Refusal(0, "Cancelled."));
    request.open("POST", `/api/files?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.send(file);
  });
  return { done, cancel: () => request.abort() };
}

function reasonOf(text: string, status: number): string {
  try {
    const { error } = JSON.parse(text) as { error?: string };
    if (error) return error;
  } catch {
    // Something between us and the server may answer in HTML.
  }
  return `The server answered with status ${status}.`;
}
