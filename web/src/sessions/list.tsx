import { useState } from "preact/hooks";
import { timeCell } from "../csv";
import { formatCount, formatMoment, formatSpan, known } from "../format";
import type { Feed } from "../live/feed";
import { Panel } from "../panel";
import { SaveButton, saveTable } from "../save";
import { ask, type Session } from "../serve/api";
import { useAnswer } from "../serve/use_answer";
import { StartForm } from "./start_form";
import { isRunning, StateChip, stateOf } from "./state_chip";
import { useReloads } from "./use_reloads";

const kPath = "/api/sessions";

export function SessionList({ feed, isAdmin }: { feed: Feed; isAdmin: boolean }) {
  const { data, problem, reload } = useAnswer<{ sessions: Session[] }>(kPath);
  const [refused, setRefused] = useState("");
  const sessions = data?.sessions ?? [];
  useReloads(feed, reload, sessions.some(isRunning));
  const stop = (session: Session) =>
    ask(`${kPath}/${encodeURIComponent(session.id)}/stop`, {}).then(
      () => { setRefused(""); reload(); },
      (error: Error) => setRefused(error.message),
    );
  return (
    <>
      {isAdmin && (
        <Panel title="Start a session" span={12}>
          <StartForm interval={feed.status?.interval_seconds ?? 1} started={reload} />
        </Panel>
      )}
      <Panel title="Sessions" note="newest first; those of earlier runs too" span={12}>
        {sessions.length > 0 && (
          <SaveButton
            kind="CSV" what="sessions"
            save={() => saveTable("sessions", [
              ["session", "description", "state", "started", "stopped", "samples", "alerts"],
              ...sessions.map((one) => [one.name, one.description, stateOf(one), timeCell(one.started_ns), timeCell(one.stopped_ns), one.snapshots, one.alerts]),
            ])}
          />
        )}
        <p class="refused" role="alert">{refused || problem}</p>
        {data && sessions.length === 0 && (
          <p class="said">None yet. A session keeps the samples and alerts of a stretch of time, such as a training run, and ends in a report.</p>
        )}
        {sessions.length > 0 && <SessionTable sessions={sessions} now={(feed.status?.time_ns ?? 0) || null} stop={isAdmin ? stop : null} />}
      </Panel>
    </>
  );
}

function SessionTable({ sessions, now, stop }: { sessions: Session[]; now: number | null; stop: ((session: Session) => void) | null }) {
  return (
    <div class="scroller">
      <table class="sessions">
        <thead>
          <tr>
            <th scope="col">session</th>
            <th scope="col" class="left">state</th>
            <th scope="col" class="roomy">started</th>
            <th scope="col" class="roomy">lasted</th>
            <th scope="col" class="roomy">samples</th>
            <th scope="col">alerts</th>
            {stop && <th scope="col" aria-label="Stop" />}
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <tr key={session.id}>
              <td><a href={`#sessions/${encodeURIComponent(session.id)}`}>{session.name}</a>{session.description && <small>{session.description}</small>}</td>
              <td class="left"><StateChip session={session} /></td>
              <td class="roomy">{formatMoment(session.started_ns / 1e6)}</td>
              <td class="roomy">{lasted(session, now)}</td>
              <td class="roomy">{formatCount(session.snapshots)}</td>
              <td>{formatCount(session.alerts)}</td>
              {stop && (
                <td>
                  {isRunning(session) && (
                    <button class="action quiet-action" aria-label={`Stop ${session.name}`} onClick={() => stop(session)}>Stop</button>
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function lasted(session: Session, now: number | null): string {
  const end = session.stopped_ns ?? (isRunning(session) ? now : null);
  return known(end, (time) => formatSpan((time - session.started_ns) / 1e6));
}
