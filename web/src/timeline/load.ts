import type { Source } from "../source";
import { decodeTimeline, type Part, type Timeline } from "./decode";
import { joined, type RankPlace } from "./join";
import { decodePath, type CriticalPath } from "./path";

// What a source has for the timeline: of one trace, or of the ranks of a job. Decoded once per source, so that coming back
// to the tab is immediate.

const timelines = new WeakMap<Source, Promise<Timeline | null>>();
const paths = new WeakMap<Timeline, Promise<CriticalPath[]>>();
const args = new Map<string, Promise<Record<string, string>>>();

export function timelineOf(source: Source): Promise<Timeline | null> {
  let timeline = timelines.get(source);
  if (!timeline) {
    timeline = load(source);
    timelines.set(source, timeline);
  }
  return timeline;
}

async function load(source: Source): Promise<Timeline | null> {
  if (!source.has("ranks")) {
    const bytes = await source.timeline();
    return bytes && decodeTimeline(bytes);
  }
  const places = await json<RankPlace[]>(source, "ranks");
  const ranks = [];
  for (const place of places) {
    const bytes = await source.blob(`timeline${place.suffix}`);
    if (bytes) ranks.push({ place, timeline: decodeTimeline(bytes) });
  }
  return joined(ranks);
}

export const hasPath = (source: Source, timeline: Timeline): boolean =>
  timeline.parts.some(({ suffix }) => source.has(`critical_path${suffix}`));

// Of each trace that has one.
export function pathsOf(source: Source, timeline: Timeline): Promise<CriticalPath[]> {
  let found = paths.get(timeline);
  if (!found) {
    found = Promise.all(timeline.parts.map(async (part) => {
      const bytes = await source.blob(`critical_path${part.suffix}`);
      return bytes && decodePath(bytes, part);
    })).then((all) => all.filter((path) => path !== null));
    paths.set(timeline, found);
  }
  return found;
}

export function partOf(timeline: Timeline, span: number): Part {
  return timeline.parts.filter(({ firstSpan }) => firstSpan <= span).at(-1)!;
}

// JSON text of a span's arguments; null where the page does not carry them.
export async function argsOf(source: Source, timeline: Timeline, span: number): Promise<string | null> {
  const { suffix, firstSpan } = partOf(timeline, span);
  if (suffix === "") return source.spanArgs(span);
  let found = args.get(suffix);
  if (!found) {
    found = json<Record<string, string>>(source, `args${suffix}`);
    args.set(suffix, found);
  }
  return (await found)[span - firstSpan] ?? null;
}

async function json<T>(source: Source, name: string): Promise<T> {
  const bytes = await source.blob(name);
  return JSON.parse(bytes ? new TextDecoder().decode(bytes) : "{}") as T;
}
