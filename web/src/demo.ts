import { ProfileSource } from "./open_file";
import { readProfile } from "./profile/read";
import type { Source } from "./source";

// A small made-up profile, to see the page without having measured anything: a service that decodes,
// uploads, infers and downloads, forty times.
export function demoSource(): Source {
  const text = JSON.stringify({ run: { command: "demo: an image service" }, entries: demoEntries() });
  return new ProfileSource("demo", readProfile(text));
}

const kRequests = 40;

function demoEntries(): object[] {
  const entries: object[] = [];
  let now = 0;
  for (let request = 0; request < kRequests; ++request) {
    const start = now;
    const wobble = 1 + 0.25 * Math.sin(request * 1.7);
    const memory = 220 + 60 * Math.sin(request / 6);
    const step = (operation: string, ms: number, parts: { gpu?: number; transfer?: number; overhead?: number }) => {
      const { gpu = 0, transfer = 0, overhead = 0 } = parts;
      entries.push(entry(operation, now, ms, { gpu: gpu * ms, transfer: transfer * ms, overhead: overhead * ms }, memory));
      now += ms;
    };
    step("decode", 3.1 * wobble, {});
    step("upload", 1.2, { transfer: 0.82, overhead: 0.12 });
    step("infer", 6.4 * wobble, { gpu: 0.78, overhead: 0.14 });
    step("download", 0.6, { transfer: 0.7, overhead: 0.2 });
    const inner = entries.slice(-4) as { gpu_time_ms: number; transfer_time_ms: number; overhead_ms: number }[];
    const sum = (part: "gpu_time_ms" | "transfer_time_ms" | "overhead_ms") => inner.reduce((total, row) => total + row[part], 0);
    entries.push(entry("request", start, now - start, { gpu: sum("gpu_time_ms"), transfer: sum("transfer_time_ms"), overhead: sum("overhead_ms") }, memory));
    now += 0.8;
  }
  return entries;
}

function entry(operation: string, start: number, ms: number, parts: { gpu: number; transfer: number; overhead: number }, memory: number): object {
  return {
    operation,
    start_time: start / 1e3,
    end_time: (start + ms) / 1e3,
    duration_ms: ms,
    gpu_time_ms: parts.gpu,
    transfer_time_ms: parts.transfer,
    overhead_ms: parts.overhead,
    cpu_time_ms: ms - parts.gpu - parts.transfer - parts.overhead,
    memory_allocated_mb: memory,
    memory_peak_mb: memory * 1.2,
    thread: 1,
  };
}
