import { useState } from "preact/hooks";
import { Cards } from "../cards";
import { formatCount, formatMoment, formatPlural, formatSpan } from "../format";
import { AlertTable } from "../live/alerts";
import type { Feed } from "../live/feed";
import { Nothing, Panel } from "../panel";
import { ask, type Inference, type Session, type SessionReport } from "../serve/api";
import { useAnswer } from "../serve/use_answer";
import type { Card } from "../summary";
import { MetricTable } from "./metric_table";
import { isRunning, StateChip } from "./state_chip";
import { SessionTrends } from "./trends";
import { useReloads } from "./use_reloads";

// What a session found; of one that still runs, so far.
export function Report({ id, feed, isAdmin }: { id: string; feed: Feed; isAdmin: boolean }) {
  const path = `/api/sessions/${encodeURIComponent(id)}`;
  const { data, problem, reload } = useAnswer<SessionReport>(path);
  const [refused, setRefused] = useState("");
  const runs = data !== null && isRunning(data.session);
  useReloads(feed, reload, runs);
  if (!data) return problem ? <Nothing>{problem} <a href="#sessions">All sessions</a></Nothing> : null;
  const stop = () => ask(`${path}/stop`, {}).then(() => { setRefused(""); reload(); }, (error: Error) => setRefused(error.message));
  const { session, alerts, suggestions } = data;
  return (
    <>
      <section class="story session-story">
        <p><a href="#sessions">All sessions</a></p>
        <h1>{session.name} <StateChip session={session} />{runs && isAdmin && <button class="action quiet-action" onClick={stop}>Stop</button>}</h1>
        <p>{[session.description, lineOf(data)].filter(Boolean).join(" · ")}</p>
        {session.was_interrupted && <p class="lost">The server ended while this session ran. What was sampled until then is kept.</p>}
        <p class="refused" role="alert">{refused || problem}</p>
      </section>
      <Cards cards={inferenceCards(session)} label="Inference" />
      <SessionTrends history={data.history} metrics={data.metrics} />
      {suggestions.length > 0 && (
        <Panel title="What to change" span={12}>
          {suggestions.map((one) => (
            <article key={one.kind + one.title} class="advice">
              <h3>{one.title}</h3>
              <p>{one.detail}</p>
              <p class="quiet">{one.evidence}</p>
            </article>
          ))}
        </Panel>
      )}
      {suggestions.length === 0 && !runs && <Panel title="What to change" span={12}><p class="said">Nothing stood out.</p></Panel>}
      <AlertTable title="Alerts" alerts={alerts} lasting={runs ? "still lasts" : "until the end"} />
      <MetricTable metrics={data.metrics} nameOf={(uuid) => data.history.devices[uuid]?.name ?? uuid} />
    </>
  );
}

const lastOf = ({ session, history }: SessionReport): number => (session.stopped_ns ?? 0) / 1e6 || history.times_ms.at(-1) || session.started_ns / 1e6;

function lineOf(report: SessionReport): string {
  const { session, history } = report;
  const began = session.started_ns / 1e6;
  return [
    `${formatMoment(began)}, ${formatSpan(lastOf(report) - began)}${session.stopped_ns === undefined ? " so far" : ""}`,
    `${formatPlural(session.snapshots, "sample", "samples")} of ${formatPlural(Object.keys(history.devices).length, "GPU", "GPUs")}`,
    formatPlural(session.alerts, "alert", "alerts"),
  ].join(" · ");
}

// How long the requests took that the reader's program told of.
function inferenceCards({ inference }: Session): Card[] {
  if (inference.count === 0) return [];
  const card = (label: string, field: keyof Inference, note: string): Card[] => {
    const ms = inference[field];
    return ms === undefined ? [] : [{ label, value: formatMs(ms), note }];
  };
  const ends = inference.min_ms === undefined || inference.max_ms === undefined ? "" : `${formatMs(inference.min_ms)} – ${formatMs(inference.max_ms)}`;
  return [
    { label: "Inferences", value: formatCount(inference.count), note: `${formatMs(inference.sum_ms)} in all` },
    ...card("Inference, mean", "mean_ms", ends),
    ...card("Inference, median", "p50_ms", ""),
    ...card("Inference, p95", "p95_ms", ""),
    ...card("Inference, p99", "p99_ms", ""),
  ];
}

const formatMs = (ms: number): string => (ms >= 10_000 ? formatSpan(ms) : `${ms.toFixed(ms < 100 ? 1 : 0)} ms`);
