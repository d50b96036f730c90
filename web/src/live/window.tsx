import type { TrendSource } from "../history/trend";
import type { HistoryMetric } from "../serve/api";
import type { Feed } from "./feed";

// How much of the history the trends show.
export const kWindows = [
  { label: "1 min", ms: 60_000 },
  { label: "10 min", ms: 600_000 },
  { label: "1 h", ms: 3_600_000 },
  { label: "All", ms: Infinity },
] as const;

const kLeastMs = 60_000; // a minute, however little is known yet

export function liveTrend(feed: Feed, uuid: string, metric: HistoryMetric, windowMs: number): TrendSource {
  const { history } = feed;
  return {
    span: () => {
      const to = history.length > 0 ? history.end : Date.now();
      const known = history.length > 0 ? to - history.begin : 0;
      return { from: to - Math.min(windowMs, Math.max(kLeastMs, known)), to };
    },
    line: (from, to, pixels) => history.line(uuid, metric, from, to, pixels, Math.max(2500, 4000 * (feed.status?.interval_seconds ?? 1))),
    onChange: (callback) => {
      feed.addEventListener("change", callback);
      return () => feed.removeEventListener("change", callback);
    },
  };
}

export function WindowChooser(props: { windowMs: number; choose: (ms: number) => void }) {
  return (
    <div class="windows" role="group" aria-label="How much of the history is shown">
      {kWindows.map(({ label, ms }) => (
        <button key={label} class="tool" aria-pressed={ms === props.windowMs} onClick={() => props.choose(ms)}>{label}</button>
      ))}
    </div>
  );
}
