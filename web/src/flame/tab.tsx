import type { TabProps } from "../tab";

export function FlameTab(_: TabProps) {
  return <p class="nothing">This report carries no timeline.</p>;
}
