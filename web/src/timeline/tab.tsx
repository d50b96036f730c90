import type { TabProps } from "../tab";

export function TimelineTab(_: TabProps) {
  return <p class="nothing">This report carries no timeline.</p>;
}
