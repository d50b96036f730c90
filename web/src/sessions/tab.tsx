import type { ServedTabProps } from "../serve/tab";
import { SessionList } from "./list";
import { Report } from "./report";
import "./sessions.css";

// The sessions, or the report of the one that the address names.
export function SessionsTab({ feed, isAdmin, place }: ServedTabProps) {
  return place ? <Report id={place} feed={feed} isAdmin={isAdmin} /> : <SessionList feed={feed} isAdmin={isAdmin} />;
}
