import { CompareTab } from "./compare/tab";
import { FlameTab } from "./flame/tab";
import { KernelsTab } from "./kernels/tab";
import { MemoryTab } from "./memory/tab";
import { OverviewTab } from "./overview/tab";
import { RanksTab } from "./ranks/tab";
import { SuggestionsTab } from "./suggestions/tab";
import type { Tab } from "./tab";
import { TimelineTab } from "./timeline/tab";

// The page's tabs, in the order of the bar and of the keys 1–8.
export const kTabs: readonly Tab[] = [
  { id: "overview", title: "Overview", view: OverviewTab },
  { id: "timeline", title: "Timeline", view: TimelineTab },
  { id: "flame", title: "Flame", view: FlameTab },
  { id: "kernels", title: "Kernels", view: KernelsTab },
  { id: "memory", title: "Memory", view: MemoryTab },
  { id: "ranks", title: "Ranks", view: RanksTab },
  { id: "suggestions", title: "Suggestions", view: SuggestionsTab },
  { id: "compare", title: "Compare", view: CompareTab },
];

// The tab that an address names ("#kernels", or "#timeline?…" with a place in it), else the first.
export function tabOf(hash: string): Tab {
  const id = hash.replace(/^#/, "").split(/[?/]/)[0];
  return kTabs.find((tab) => tab.id === id) ?? kTabs[0]!;
}
