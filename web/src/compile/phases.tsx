import { formatDuration } from "../format";
import type { Phases } from "./data";

export const kPhases = [
  { id: "dynamo", label: "Dynamo" },
  { id: "aot_autograd", label: "AOT autograd" },
  { id: "inductor", label: "Inductor" },
] as const;

// The time to compile as a part of `whole`, by phase; what no phase is known of is grey. A line of the program has no phases.
export function PhaseBar({ time, phases, whole }: { time: number | null; phases: Phases | null; whole: number }) {
  if (time === null || whole <= 0) return null;
  const parts = kPhases.map(({ id, label }) => ({ id, label, ms: phases?.[id] ?? 0 }));
  const rest = time - parts.reduce((sum, part) => sum + part.ms, 0);
  const words = parts.filter((part) => part.ms > 0).map((part) => `${part.label} ${formatDuration(part.ms * 1e6)}`).join(", ");
  return (
    <div class="bar" role="img" aria-label={words || formatDuration(time * 1e6)} title={words}>
      {parts.map((part) => <i key={part.id} class={`phase ${part.id}`} style={{ width: `${(part.ms / whole) * 100}%` }} />)}
      <i class={phases ? "phase" : "phase line"} style={{ width: `${(Math.max(0, rest) / whole) * 100}%` }} />
    </div>
  );
}

export function PhaseLegend() {
  return (
    <div class="legend">
      {kPhases.map(({ id, label }) => <span key={id}><i class={`phase ${id}`} />{label}</span>)}
      <span><i class="phase" />phase not logged</span>
      <span><i class="phase line" />a line, with all below it</span>
    </div>
  );
}
