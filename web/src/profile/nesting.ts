import type { Entry } from "./read";

// The entries of each thread in order, each with the innermost that contains it.
export function walkNested(entries: Entry[], visit: (index: number, parent: number | null, depth: number) => void): void {
  const order = entries.map((_, index) => index).sort((left, right) => {
    const a = entries[left]!;
    const b = entries[right]!;
    if (a.thread !== b.thread) return a.thread < b.thread ? -1 : 1;
    return a.start_ns - b.start_ns || b.end_ns - a.end_ns;
  });
  let open: number[] = [];
  let thread: string | null = null;
  for (const index of order) {
    const entry = entries[index]!;
    if (entry.thread !== thread) open = [];
    thread = entry.thread;
    while (open.length > 0 && entries[open.at(-1)!]!.end_ns < entry.end_ns) open.pop();
    visit(index, open.at(-1) ?? null, open.length);
    open.push(index);
  }
}
