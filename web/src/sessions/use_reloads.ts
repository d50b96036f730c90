import { useEffect } from "preact/hooks";
import type { Feed } from "../live/feed";

const kEveryMs = 5000;

// Asks again when a session was started or stopped, and now and then while one runs.
export function useReloads(feed: Feed, reload: () => void, isRunning: boolean): void {
  useEffect(() => {
    feed.addEventListener("session", reload);
    const timer = isRunning ? setInterval(() => document.hidden || reload(), kEveryMs) : 0;
    return () => {
      feed.removeEventListener("session", reload);
      clearInterval(timer);
    };
  }, [feed, reload, isRunning]);
}
