import type { ComponentType } from "preact";
import type { Feed } from "../live/feed";
import type { TabName } from "../tab";

// What every tab of the server's page is given.
export interface ServedTabProps {
  feed: Feed;
  isAdmin: boolean; // else it may look, not change
  place: string; // what follows the tab's name in the address: "#sessions/12" is at "12"
}

export interface ServedTab extends TabName {
  view: ComponentType<ServedTabProps>;
}
