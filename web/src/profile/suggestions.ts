import { formatDuration, formatPercent, formatPlural } from "../format";
import type { Scope, Suggestion, Suggestions } from "../summary";
import { numberOf, type Figures } from "./read";
import { weightOf } from "./scopes";

// What a profile that is dropped onto the page suggests: the rules of src/advise/rule_operations.cpp. A profile has the times of
// operations but not what waited for what, so each gain is a bound.

const kMs = 1e6;
const kWorthPct = 3;
const kWhy = "This file has the times of operations but not what waited for what: estimates are upper bounds, the most an operation could save.";

export function suggestionsOfProfile(scopes: Scope[], figures: Figures[]): Suggestions {
  const whole = scopes.reduce((sum, scope) => sum + weightOf(scope), 0);
  const fields = new Map(figures.map((each) => [each.operation, each.fields]));
  const all = scopes.flatMap((scope) => {
    const known = { ...knownOf(scope), ...memoryAndUse(fields.get(scope.name) ?? {}) };
    return [...routing(known), ...calls(known), ...use(known)].map((one) => judged(one, known, whole));
  });
  const list = all.filter(({ gain }) => gain === null || gain.mid_pct >= kWorthPct);
  list.sort((a, b) => (b.gain?.mid_pct ?? 0) - (a.gain?.mid_pct ?? 0));
  return { why_no_gains: kWhy, together_pct: null, rough_pct: null, run_ns: whole > 0 ? Math.round(whole) : null, left_out: all.length - list.length, list };
}

// One operation, with what is unknown as 0: no rule speaks of what is not there.
interface Known {
  scope: Scope;
  total: number;
  mean: number;
  gpu: number;
  cpu: number;
  transfer: number;
  overhead: number;
  way: number;
  meanMemoryMb: number;
  peakMemoryMb: number;
  busy: number | null;
}

function knownOf(scope: Scope): Omit<Known, "meanMemoryMb" | "peakMemoryMb" | "busy"> {
  const total = scope.total_ns ?? 0;
  const [gpu, cpu, transfer, overhead] = [scope.gpu_ns ?? 0, scope.cpu_ns ?? 0, scope.transfer_ns ?? 0, scope.overhead_ns ?? 0];
  return { scope, total, mean: scope.calls > 0 ? total / scope.calls : 0, gpu, cpu, transfer, overhead, way: transfer + overhead };
}

const memoryAndUse = (fields: Figures["fields"]): Pick<Known, "meanMemoryMb" | "peakMemoryMb" | "busy"> => ({
  meanMemoryMb: numberOf(fields["avg_memory_mb"]) ?? 0, peakMemoryMb: numberOf(fields["peak_memory_mb"]) ?? 0, busy: numberOf(fields["avg_gpu_utilization"]),
});

interface Words {
  type: string;
  title: string;
  description: string;
  hint: string;
  saves: number; // ns; 0 where it is no time
}

const callsText = ({ scope, mean }: Known): string => `${formatPlural(scope.calls, "call", "calls")} of ${formatDuration(mean)} on average`;

function routing(known: Known): Words[] {
  const { scope, gpu, cpu, way, mean, total } = known;
  if (gpu > 0 && mean < kMs && way > gpu) {
    return [{
      type: "routing", title: `Run ${scope.name} on the CPU`, saves: way,
      description: `${callsText(known)}: copies and calls take ${formatDuration(way)}, GPU work ${formatDuration(gpu)}.`,
      hint: "Run small operations on the host, or keep the data on the GPU between operations.",
    }];
  }
  if (gpu > 0 || mean <= 10 * kMs || !(known.transfer > 0 || known.meanMemoryMb > 0)) return [];
  return [{
    type: "routing", title: `Try ${scope.name} on the GPU`, saves: cpu > 0 ? cpu : total,
    description: `${callsText(known)}, all of it on the CPU, and it moves memory.`,
    hint: "Worth it if it does the same arithmetic on many elements and the data can stay on the GPU.",
  }];
}

function calls(known: Known): Words[] {
  const { scope, total, mean, gpu, overhead } = known;
  const butOne = scope.calls > 0 ? (scope.calls - 1) / scope.calls : 0;
  if (scope.calls >= 100 && mean < kMs) {
    return [{
      type: "caching", title: `Cache what ${scope.name} computes`, saves: total * butOne,
      description: `${callsText(known)}. If it computes the same result again, cache it.`,
      hint: "Cache results by argument, or move the call out of the loop.",
    }];
  }
  if (scope.calls < 10 || !(overhead > 0 || gpu > 0)) return [];
  return [{
    type: "batching", title: `Batch the calls of ${scope.name}`, saves: overhead * butOne,
    description: `${callsText(known)}, each with its own launches and runtime calls.`,
    hint: "Gather the inputs and make one call for all of them.",
  }];
}

function use({ scope, total, gpu, busy: measured, peakMemoryMb }: Known): Words[] {
  const found: Words[] = [];
  const busy = measured ?? (total > 0 ? gpu / total : 0);
  if (gpu > 0 && busy < 0.5) {
    found.push({
      type: "parallelization", title: `Keep the GPU busy in ${scope.name}`, saves: total - gpu,
      description: `The GPU was busy for ${formatPercent(busy * 100)} of the ${formatDuration(total)} it took.`,
      hint: "Launch ahead without waiting, copy on a separate stream, prepare the next input meanwhile.",
    });
  }
  if (peakMemoryMb > 100) {
    found.push({
      type: "memory", title: `Use less memory in ${scope.name}`, saves: 0, description: `${peakMemoryMb.toFixed(0)} MB at the peak.`,
      hint: "Work in place or in chunks, and free what is no longer needed.",
    });
  }
  return found;
}

function judged(words: Words, { scope, total }: Known, whole: number): Suggestion {
  const saves = words.saves > 0 ? Math.trunc(Math.min(words.saves, total)) : null;
  const pct = saves === null || whole <= 0 ? 0 : Math.min(100, (saves / whole) * 100);
  const high_pct = saves === null || whole <= 0 ? 0 : (saves / whole) * 100; // in the steps of the program, to the last digit
  return {
    title: words.title, operation: scope.name, type: words.type,
    priority: pct >= 20 ? "critical" : pct >= 10 ? "high" : pct >= kWorthPct ? "medium" : "low",
    description: words.description,
    expected: saves === null ? "Saves memory, not time." : `Saves at most ${formatDuration(saves)} (${formatPercent(pct)} of the total).`,
    hint: words.hint, code: [], ranks: 1, of_ranks: 1, of_rank: null, evidence_count: 0, evidence: [],
    gain: saves === null ? null : {
      is_bound: true, is_rough: false, after_ns: Math.round(whole) - saves, low_ns: 0, mid_ns: saves, high_ns: saves,
      low_pct: 0, mid_pct: pct, high_pct: Math.max(pct, high_pct),
    },
  };
}
