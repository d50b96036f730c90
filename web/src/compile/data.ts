import type { Source } from "../source";

// The block "compile": what `fathom compile --json` writes (docs/compile.schema.json). Times are milliseconds. What is
// unknown is null.

export interface CompileReport {
  source: string;
  story: string;
  functions: number;
  compilations: number;
  time_ms: number | null;
  phases_ms: Phases;
  graph_breaks: number;
  recompiles: number;
  failures: number;
  fusion: Fusion | null;
  caches: Record<string, CacheCounts>;
  speedup: number | null;
  trace: CompiledTrace | null;
  break_reasons: BreakGroup[];
  failed: FailureGroup[];
  recompiled: RecompileGroup[];
  cudagraph_skips: { reason: string; count: number; advice: string | null }[];
  cudagraph_rerecorded: { function: string; where: string | null; times: number; advice: string | null }[];
  rank_differences: RankDifference[];
  tree: TreeNode[];
  logs: { source: string; rank: number | null; records: number; unreadable: number; damaged_payloads: number; compilations: Compilation[] }[];
}

export interface Phases {
  dynamo: number | null;
  aot_autograd: number | null;
  inductor: number | null;
}

export interface Fusion {
  ops_before_fusion: number;
  ops_after_fusion: number;
  fusion_ratio: number | null;
}

export interface CacheCounts {
  hits: number;
  misses: number;
  bypasses: number;
  saved_ms: number | null;
}

export interface CompiledTrace {
  source: string;
  gpu_ms: number | null;
  compiled_gpu_ms: number | null;
  regions: { id: string | null; calls: number; host_ms: number; gpu_ms: number }[];
}

export interface StackFrame {
  file: string;
  line: number;
  function: string;
  code: string | null;
}

export interface BreakGroup {
  count: number;
  function: string;
  reason: string;
  where: string | null;
  stack: StackFrame[];
  advice: string | null;
}

export interface FailureGroup {
  function: string;
  where: string | null;
  count: number;
  type: string;
  reason: string | null;
  advice: string | null;
}

export interface RecompileGroup {
  function: string;
  where: string | null;
  times: number;
  time_ms: number;
  reasons: string[];
  advice: string | null;
}

export interface RankDifference {
  rank: number;
  what: string;
  count: number;
  usual: number;
}

export interface TreeNode {
  parent: number | null;
  depth: number;
  time_ms: number | null;
  stack: StackFrame[];
  compilations: { log: number; index: number }[];
}

export interface Compilation {
  id: string;
  function: string | null;
  file: string | null;
  line: number | null;
  attempts: number;
  time_ms: number | null;
  phases_ms: Phases;
  events_ms: Record<string, number>;
  graph_ops: number | null;
  guards: number | null;
  is_recompile: boolean;
  recompile_reasons: string[];
  restart_reasons: string[];
  graph_breaks: { reason: string; where: string | null; stack: StackFrame[] }[];
  fail_type: string | null;
  fail_reason: string | null;
  fail_where: string | null;
  caches: { cache: string; outcome: "hit" | "miss" | "bypass"; key: string | null; saved_ms: number | null; reason: string | null }[];
  fusion: Fusion | null;
  cudagraph_skips: string[];
  cudagraph_recordings: number;
  stack: StackFrame[];
}

export async function compileOf(source: Source): Promise<CompileReport | null> {
  const bytes = await source.blob("compile");
  return bytes ? (JSON.parse(new TextDecoder().decode(bytes)) as CompileReport) : null;
}

const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

export const placeOf = (frame: { file: string; line: number }): string => `${fileName(frame.file)}:${frame.line}`;
