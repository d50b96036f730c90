import type { Range } from "./sums";

// What is seen and selected, in the address, so that a link shows the same thing:
//   #timeline?from=0&to=2000000&span=12&mark=100-200&tracks=0,3&path=1&colours=class&pinned=0,4
export interface Seen {
  view: [from: number, to: number] | null;
  span: number | null;
  range: Range | null;
  path: boolean; // the critical path is drawn
  byClass: boolean; // colours of GPU work
  pinned: number[] | null; // places in pinnableOf; null where they are as at first
}

// Whose GPU work an address asks to be summed up: #timeline?mark=100-200&rank=1&gpu=0, of the page's timelines the second.
export interface AskedRank {
  part: number;
  device: string | null;
}

export function rankIn(hash: string): AskedRank | null {
  const asked = new URLSearchParams(hash.split("?")[1] ?? "");
  const rank = asked.get("rank");
  return rank !== null && /^\d+$/.test(rank) ? { part: Number(rank), device: asked.get("gpu") } : null;
}

export const isTimeline = (hash: string): boolean => /^#timeline(\?|$)/.test(hash);

export function seenIn(hash: string): Seen {
  const asked = new URLSearchParams(hash.split("?")[1] ?? "");
  const whole = (text: string | null) => (text !== null && /^\d+$/.test(text) ? Number(text) : null);
  const [from, to] = [whole(asked.get("from")), whole(asked.get("to"))];
  const [begin, end] = (asked.get("mark") ?? "").split("-").map(whole);
  const places = (text: string | null) => text?.split(",").map(whole).filter((place) => place !== null) ?? null;
  return {
    view: from !== null && to !== null && to > from ? [from, to] : null,
    span: whole(asked.get("span")),
    range: begin != null && end != null && end > begin ? { from: begin, to: end, tracks: places(asked.get("tracks")) } : null,
    path: asked.get("path") === "1",
    byClass: asked.get("colours") === "class",
    pinned: places(asked.get("pinned")),
  };
}

export function addressOf({ view, span, range, path, byClass, pinned }: Seen): string {
  const parts: string[] = [];
  if (view) parts.push(`from=${Math.round(view[0])}`, `to=${Math.round(view[1])}`);
  if (span !== null) parts.push(`span=${span}`);
  if (range) parts.push(`mark=${Math.round(range.from)}-${Math.round(range.to)}`);
  if (range?.tracks) parts.push(`tracks=${range.tracks.join(",")}`);
  if (path) parts.push("path=1");
  if (byClass) parts.push("colours=class");
  if (pinned) parts.push(`pinned=${pinned.join(",")}`);
  return `#timeline${parts.length > 0 ? `?${parts.join("&")}` : ""}`;
}
