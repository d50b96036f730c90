import type { ComponentType } from "preact";
import type { Source } from "./source";
import type { Summary } from "./summary";

// What every tab is given.
export interface TabProps {
  source: Source;
  summary: Summary;
}

export interface TabName {
  id: string; // in the address: #kernels
  title: string;
}

export interface Tab extends TabName {
  view: ComponentType<TabProps>;
  hasContent: (source: Source, summary: Summary) => boolean; // else it is not shown
}
