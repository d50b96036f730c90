import type { Session } from "../serve/api";

export const isRunning = (session: Session): boolean => session.stopped_ns === undefined && !session.was_interrupted;

export const stateOf = (session: Session): "interrupted" | "running" | "stopped" =>
  session.was_interrupted ? "interrupted" : isRunning(session) ? "running" : "stopped";

export function StateChip({ session }: { session: Session }) {
  const state = stateOf(session);
  const why = state === "interrupted" ? "The server ended while it ran; what was sampled until then is kept" : undefined;
  return <span class={`chip ${state}`} title={why}>{state}</span>;
}
