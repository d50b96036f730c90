// The summary document of a run: src/report/page/summary.cpp writes it, profile/summary.ts makes it of a
// profile JSON that is dropped onto the page. Every figure and every word is a field of its own, so that
// nothing here has to be taken apart or worked out again. Times are nanoseconds. What is unknown is null.

import { fillOfClass, type Fill } from "./classes";
import { namerOf } from "./short_names";

// What time is spent on. src/report/page/part.h decides it; each has one colour everywhere on the page, the
// token of its name in styles.css.
export type Part = "gpu" | "comm" | "transfer" | "overhead" | "cpu" | "idle";

export interface Summary {
  fathom: string;
  run: Run;
  story: Story;
  cards: Card[];
  ring: Ring | null;
  slices: Slices | null;
  operations: Operation[];
  efficiency: Efficiency;
  classes: ClassTime[]; // of GPU work, most time first; none where they would tell nothing
  operators: Operators;
  scopes: Scope[];
  bottlenecks: Bottleneck[];
  advice: Advice;
  suggestions: Suggestions | null;
  memory: Memory | null;
  ranks: Rank[];
  skew: Skew | null;
  warnings: string[];
  tabs?: string[]; // those of a page that is not about one run
}

export interface Run {
  source: string;
  name: string; // the command, else the file's name
  format: string | null;
  command: string | null;
  rank: number | null;
  world_size: number | null;
  duration_ns: number | null;
  spans: number;
  threads: number;
  gpu_streams: number;
  devices: string[];
}

// One sentence that tells the story, and one with the figures behind it.
export interface Story {
  headline: string;
  detail: string;
}

// A figure, as people read it.
export interface Card {
  label: string;
  value: string;
  note: string;
  to?: string; // the address of what is behind it: "kernels?class=copy"
}

// Where the time went: parts that add up to the whole.
export interface Ring {
  caption: string;
  total_ns: number;
  parts: { label: string; part: Part; ns: number }[];
}

// What time was spent on, step by step or, without steps, in equal slices of the run; of a profile, by
// operation. Each instant belongs to one part.
export interface Slices {
  title: string;
  labels: string[];
  windows: [number, number][]; // where each is on the timeline; none of a profile's, whose labels are scopes
  parts: SlicePart[];
}

export interface SlicePart {
  part: Part;
  label: string;
  ns: number[]; // a number per label
  total_ns: number | null; // null where slices lie in each other, and a sum would count twice
}

// All spans of one name and kind.
export interface Operation {
  name: string;
  kind: string;
  part: Part;
  class: string | null; // of GPU work: the one that most of its time is of
  calls: number;
  total_ns: number;
  self_ns: number;
  share_pct: number; // of the self time of all operations, as the bottlenecks have it
  gpu_share_pct: number | null; // of the time of all GPU work; null where it is none
  mean_ns: number;
  min_ns: number;
  max_ns: number;
  std_ns: number;
  p50_ns: number;
  p99_ns: number;
  // What it achieved, of operations whose shapes are known: docs/analyses.md.
  tflops: number | null;
  gb_s: number | null;
  peak_pct: number | null;
  bandwidth_pct: number | null;
  efficiency_pct: number | null;
  occupancy_pct: number | null;
  tensor_cores: boolean | null;
  // Calls by duration, in bins of equal ratio from the shortest (1 ns at least) to the longest.
  histogram?: number[];
}

// All GPU work of one class: "gemm", for people "GEMM". Shares are of the time of all GPU work.
export interface ClassTime {
  class: string;
  label: string;
  count: number;
  sum_ns: number;
  share_pct: number;
}

// GPU work by the innermost operator or scope around its launch; none where no launch is known.
export interface Operators {
  kernels: string[];
  list: OperatorTime[]; // most time first
}

export interface OperatorTime {
  name: string; // empty of work that none launched
  calls: number;
  sum_ns: number;
  share_pct: number; // of the time of all GPU work
  kernels: number[]; // what it launched, in Operators.kernels
}

// How well the GPUs were used. Rates are of the least FLOP and bytes that shapes and types tell.
export interface Efficiency {
  device_name: string | null;
  peaks: Peaks;
  mfu_pct: number | null;
  steps: { name: string; time_ns: number; mfu_pct: number }[];
  work: ShapedWork[]; // most time first
  text: string[]; // what is known in words, or what is missing
}

// TFLOP/s and GB/s.
export interface Peaks {
  fp32_tflops: number | null;
  tf32_tflops: number | null;
  fp16_tflops: number | null;
  fp8_tflops: number | null;
  memory_gb_s: number | null;
}

// All operations of one name and one set of shapes, run by one kernel.
export interface ShapedWork {
  operation: string;
  shapes: string;
  kernel: string;
  class: string;
  arithmetic: "fp32" | "tf32" | "fp16" | "fp8" | null; // of matrix work
  calls: number;
  time_ns: number;
  flop: number;
  bytes: number;
  tflops: number;
  gb_s: number;
  peak_pct: number | null;
  bandwidth_pct: number | null;
  efficiency_pct: number | null;
  bound_by: "memory" | "arithmetic";
}

// A scope of the library, as the recorder counted it: exact for the whole run.
export interface Scope {
  name: string;
  part: Part; // that it spends the most of its time on
  calls: number;
  errors: number | null;
  share_pct: number | null; // by its self time, else its total, of all scopes
  total_ns: number | null;
  self_ns: number | null;
  mean_ns: number | null;
  min_ns: number | null;
  max_ns: number | null;
  p50_ns: number | null;
  p99_ns: number | null;
  gpu_ns: number | null;
  cpu_ns: number | null;
  transfer_ns: number | null;
  overhead_ns: number | null;
}

export interface Bottleneck {
  name: string;
  kind: string;
  part: Part;
  self_ns: number;
  share_pct: number;
  cumulative_pct: number;
}

export interface Memory {
  devices: DeviceMemory[]; // the one that the story is about first
  host: MemorySeries | null;
  host_peak_bytes: number | null; // as sampled, or as the kernel counted between samples
}

export interface DeviceMemory {
  label: string;
  part: Part; // whose memory it is
  series: MemorySeries[]; // allocated, then reserved where known
  cards: Card[];
  at_peak: MemoryUse[];
  unknown_at_peak: number; // bytes of the peak that are older than the recording
  leaks: MemoryUse[]; // alive at the end
  unknown_at_end: number; // and of these
}

// Bytes over time, from the start of the recording; each holds until the next.
export interface MemorySeries {
  what: "allocated" | "reserved" | "resident";
  label: string;
  times_ns: number[];
  bytes: number[];
}

// Who allocated: the scope around the allocation, and the call that made it. Empty where unknown.
export interface MemoryUse {
  scope: string;
  call: string;
  blocks: number;
  bytes: number;
}

// One GPU of one rank; shares are of the time from its first to its last work.
export interface Rank {
  rank: number | null;
  label: string;
  device: number | null;
  part: number | null; // which of the page's timelines has it
  window: [number, number] | null; // when its run was, on the timeline
  total_ns: number | null;
  compute_pct: number | null;
  communication_pct: number | null;
  memory_pct: number | null;
  idle_pct: number | null;
  host_wait_pct: number | null;
  overlap_pct: number | null; // of communication, hidden behind compute
  // Where the ranks were compared: in collectives, how long it waited for the last to come, how often it
  // was the last, and how much later than the next in all.
  waited_ns?: number;
  times_last?: number;
  late_ns?: number;
  mean_step_ns?: number | null;
}

// Who waits for whom in the collectives that ranks share.
export interface Skew {
  story: string;
  imbalance_pct: number | null; // how much longer the slowest rank computes than the mean
  collectives: Collective[];
}

// All collectives of one operation and process group. Spread is from the first to the last arrival.
export interface Collective {
  name: string;
  group: string;
  count: number;
  mean_spread_ns: number;
  worst_ns: number;
  mean_exchange_ns: number;
}

// What keeps the GPUs from computing, and what to try.
export interface Advice {
  findings: Finding[];
  recommendations: Recommendation[];
}

// "host wait", and what that means: "the GPU waited for the host to launch work".
export interface Finding {
  what: string;
  part: Part;
  meaning: string;
  time_ns: number;
  share_pct: number;
}

export interface Recommendation {
  title: string;
  gain_pct: number | null; // the mean of the ranks that say it
  is_bound: boolean; // the gain is the most it could be
  is_rough: boolean; // the replay is off by 3 to 10 %
  ranks: number; // that say it
  of_ranks: number;
  hint: string;
}

// What to change, most gain first. `place` is a span's place on the timeline.
export interface Suggestions {
  why_no_gains: string; // empty where there are gains
  together_pct: number | null; // of the run, all of them; null where that is not known
  rough_pct: number | null; // how far the replay is off, where gains are rough for it
  run_ns: number | null; // what percentages are of, where there are gains
  left_out: number;
  list: Suggestion[];
}

export interface Suggestion {
  title: string;
  operation: string; // empty where it is about more than one
  type: string;
  priority: "critical" | "high" | "medium" | "low";
  description: string;
  expected: string;
  hint: string; // how, in words
  code: string[]; // how, in lines that can be pasted
  ranks: number; // that say it
  of_ranks: number;
  gain: Gain | null; // of several ranks, the mean
  // Of several ranks: the one that would save the most, whose description, bar and evidence are shown.
  of_rank: { label: string; run_ns: number | null; gain: Gain | null } | null;
  evidence_count: number;
  evidence: { name: string; place: number; start_ns: number; duration_ns: number }[];
}

// Low and high are the same change done half-heartedly and as well as can be; not known of several ranks.
export interface Gain {
  is_bound: boolean; // it is the most that could be gained
  is_rough: boolean; // the replay is off by 3 to 10 %
  after_ns: number | null; // the run with the middle of it; not known of several ranks
  low_ns: number | null;
  mid_ns: number | null;
  high_ns: number | null;
  low_pct: number | null;
  mid_pct: number;
  high_pct: number | null;
}

// The colour of a class of GPU work: its operations say what part of the time they are.
export const fillIn = ({ operations }: Summary, name: string): Fill =>
  fillOfClass(name, operations.find((row) => row.class === name)?.part ?? "idle");

export const isGpuWork = (kind: string): boolean => kind === "kernel" || kind === "copy" || kind === "fill";

// What the page calls an operation.
export type ShownName = (row: { name: string; kind: string }) => string;

const named = new WeakMap<Summary, ShownName>();

export function namesOf(summary: Summary): ShownName {
  let shown = named.get(summary);
  if (!shown) {
    const namer = namerOf(() => summary.operations.flatMap(({ kind, name }) => (kind === "kernel" ? [name] : [])));
    shown = ({ name, kind }) => namer(name, kind);
    named.set(summary, shown);
  }
  return shown;
}

const kKinds: Record<string, string> = {
  scope: "scope", cpu_op: "operator", python: "Python", annotation: "annotation", gpu_annotation: "GPU annotation",
  runtime_call: "runtime call", kernel: "kernel", copy: "copy", fill: "fill", sync: "wait", overhead: "profiler", other: "other",
};

// A span's kind in words.
export const kindWords = (kind: string): string => kKinds[kind] ?? kind;
