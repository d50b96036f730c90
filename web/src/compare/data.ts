import { namerOf } from "../short_names";
import type { Source } from "../source";
import type { Card, Part } from "../summary";

// The block "compare": src/report/page/compare.cpp writes it. Times are nanoseconds. What is unknown is null.

export interface Comparison {
  story: string;
  counts: string;
  advice: string;
  base_label: string;
  base_runs: number;
  current_label: string;
  current_runs: number;
  threshold_pct: number;
  totals_are_of: "run" | "step";
  cards: Card[];
  operations: Change[]; // the largest change of self time first
}

// As the terminal says it.
export type Verdict = "SLOWER" | "faster" | "suspect" | "same" | "new" | "gone" | "unstable" | "inconclusive";

// One operation, before and now. Times are of a call, self times of a run or step.
export interface Change {
  name: string;
  words: string; // which of its calls, where not all are meant
  kind: string;
  part: Part;
  by_launcher: boolean; // GPU work of other names, launched by the operation that is named
  verdict: Verdict;
  calls: string;
  base_ns: number | null;
  current_ns: number | null;
  change_pct: number | null;
  low_pct: number | null;
  high_pct: number | null;
  base_self_ns: number;
  current_self_ns: number;
  base_p95_ns: number | null;
  current_p95_ns: number | null;
  note: string;
  runs_needed: number | null;
  base: RunTimes[]; // empty beyond the largest few hundred differences
  current: RunTimes[];
}

// The calls of one operation in one run: quantiles that stand for equal shares of them, ascending.
export interface RunTimes {
  calls: number;
  centre_ns: number;
  quantiles_ns: number[];
}

const read = new WeakMap<Source, Promise<Comparison | null>>();

export function comparisonOf(source: Source): Promise<Comparison | null> {
  let comparison = read.get(source);
  if (!comparison) {
    comparison = source.blob("compare").then((bytes) =>
      bytes ? (JSON.parse(new TextDecoder().decode(bytes)) as Comparison) : null,
    );
    read.set(source, comparison);
  }
  return comparison;
}

export const selfChange = (change: Change): number => change.current_self_ns - change.base_self_ns;

const operationOf = (change: Change, name: string): string => `${change.by_launcher ? "GPU work of " : ""}${name || "(no name)"}`;

export const nameOf = (change: Change): string => {
  const operation = operationOf(change, change.name);
  return change.words ? `${operation} · ${change.words}` : operation;
};

// The operation's name where there is little room, without which of its calls are meant.
export function shownIn({ operations }: Comparison): (change: Change) => string {
  const shown = namerOf(() => operations.flatMap(({ name, kind }) => (kind === "kernel" ? [name] : [])));
  return (change) => operationOf(change, shown(change.name, change.kind));
}
