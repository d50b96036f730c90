import { namerOf } from "../short_names";
import type { Timeline } from "./decode";

const named = new WeakMap<Timeline, (label: number) => string>();

// The short names of a timeline's labels; each is worked out when first asked for.
export function namesIn(timeline: Timeline): (label: number) => string {
  let shown = named.get(timeline);
  if (!shown) {
    const { names, kinds } = timeline;
    const namer = namerOf(() => names.filter((_, label) => kinds[label] === "kernel"));
    const known: string[] = [];
    shown = (label) => (known[label] ??= namer(names[label]!, kinds[label]!));
    named.set(timeline, shown);
  }
  return shown;
}
