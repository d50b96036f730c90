import type { Session } from "../serve/api";

export const isRunning = (session: Session): boolean => session.stopped_ns === undefined && !session.was_interrupted;

export function StateChip({ session }: { session: Session }) {
  if (session.was_interrupted) return <span class="chip interrupted" title="The server ended while it ran; what was sampled until then is kept">interrupted</span>;
  if (isRunning(session)) return <span class="chip running">running</span>;
  return <span class="chip">stopped</span>;
}
