import { CompareTab } from "./compare/tab";
import { CompileTab } from "./compile/tab";
import { FlameTab } from "./flame/tab";
import { KernelsTab } from "./kernels/tab";
import { MemoryTab } from "./memory/tab";
import { OverviewTab } from "./overview/tab";
import { RanksTab } from "./ranks/tab";
import { hasTimeline, type Source } from "./source";
import { SuggestionsTab } from "./suggestions/tab";
import { isGpuWork, type Summary } from "./summary";
import type { Tab } from "./tab";
import { TimelineTab } from "./timeline/tab";

const always = () => true;
const has = (block: string) => (source: Source) => source.has(block);

// The page's tabs, in the order of the bar, each with whether it has anything to show.
export const kTabs: readonly Tab[] = [
  { id: "overview", title: "Overview", view: OverviewTab, hasContent: always },
  { id: "timeline", title: "Timeline", view: TimelineTab, hasContent: hasTimeline },
  { id: "flame", title: "Flame", view: FlameTab, hasContent: has("flame") },
  { id: "kernels", title: "Kernels", view: KernelsTab, hasContent: (_, summary) => summary.operations.some(({ kind }) => isGpuWork(kind)) },
  { id: "memory", title: "Memory", view: MemoryTab, hasContent: (_, summary) => summary.memory !== null },
  { id: "ranks", title: "Ranks", view: RanksTab, hasContent: (_, summary) => summary.ranks.length > 0 },
  { id: "suggestions", title: "Suggestions", view: SuggestionsTab, hasContent: (_, summary) => (summary.suggestions?.list.length ?? 0) > 0 },
  { id: "compile", title: "Compile", view: CompileTab, hasContent: has("compile") },
  { id: "compare", title: "Compare", view: CompareTab, hasContent: has("compare") },
];

// Those of a page; a page about more than one run names its own.
export const tabsOf = (source: Source, summary: Summary): readonly Tab[] =>
  kTabs.filter(({ id, hasContent }) => summary.tabs?.includes(id) ?? (id === source.start || hasContent(source, summary)));

// The tab that an address names ("#kernels", or "#timeline?…" with a place in it), else the first.
export function tabOf(hash: string): Tab {
  const id = hash.replace(/^#/, "").split(/[?/]/)[0];
  return kTabs.find((tab) => tab.id === id) ?? kTabs[0]!;
}
