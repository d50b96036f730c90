import { useEffect, useRef, useState } from "preact/hooks";
import { timeCell } from "../csv";
import { formatClock, formatSpan } from "../format";
import { Panel } from "../panel";
import { SaveButton, saveTable } from "../save";
import { sentence, type Alert, type Status } from "../serve/api";
import { changesOf } from "./changes";

const isCritical = ({ severity }: Alert) => Number(severity === "critical");

// Those that last, the gravest first; none, and there is no panel.
export function LastingAlerts({ alerts, indexOf }: { alerts: Alert[]; indexOf: (uuid: string) => number | null }) {
  if (alerts.length === 0) return null;
  const sorted = [...alerts].sort((a, b) => isCritical(b) - isCritical(a) || b.raised_ns - a.raised_ns);
  return (
    <section class="alerts c12" aria-label="Alerts">
      {sorted.map((alert) => <LastingAlert key={alert.id} alert={alert} index={indexOf(alert.uuid)} />)}
    </section>
  );
}

function LastingAlert({ alert, index }: { alert: Alert; index: number | null }) {
  return (
    <article class={`alert ${alert.severity}`}>
      <b class="severity">{alert.severity}</b>
      {index === null
        ? <span>{alert.device}</span>
        : <button class="tool" title={alert.device} onClick={() => document.getElementById(`gpu-${index}`)?.scrollIntoView({ block: "center" })}>GPU {index}</button>}
      <p>
        <strong>{sentence(alert.message)}</strong> <span class="cause">{sentence(alert.cause)}</span>
      </p>
      <span class="since">since {formatClock(alert.raised_ns / 1e6)}</span>
    </article>
  );
}

// A table of alerts. `lasting` is said of those that have not ended.
export function AlertTable({ title, alerts, lasting }: { title: string; alerts: Alert[]; lasting: string }) {
  if (alerts.length === 0) return null;
  return (
    <Panel title={title} span={12}>
      <SaveButton
        kind="CSV" what={title.toLowerCase()}
        save={() => saveTable(title.toLowerCase(), [
          ["alert", "cause", "severity", "device", "from", "to"],
          ...alerts.map((one) => [one.message, one.cause, one.severity, one.device, timeCell(one.raised_ns), timeCell(one.cleared_ns)]),
        ])}
      />
      <div class="scroller">
        <table class="alert-table">
          <thead><tr><th scope="col">alert</th><th scope="col" class="left">severity</th><th scope="col" class="left roomy">device</th><th scope="col">from</th><th scope="col">lasted</th></tr></thead>
          <tbody>
            {alerts.map((alert) => (
              <tr key={alert.id}>
                <td title={alert.cause}>{alert.message} <small>{sentence(alert.cause)}</small></td>
                <td class="left"><span class={`severity ${alert.severity}`}>{alert.severity}</span></td>
                <td class="left roomy">{alert.device}</td>
                <td>{formatClock(alert.raised_ns / 1e6)}</td>
                <td>{alert.cleared_ns === undefined ? lasting : formatSpan((alert.cleared_ns - alert.raised_ns) / 1e6)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

// Says what changed to those who do not see it: alerts that appear and go, devices that are lost and back.
export function Announcer({ status }: { status: Status | null }) {
  const before = useRef<Status | null>(null);
  const [said, setSaid] = useState("");
  useEffect(() => {
    const changes = changesOf(before.current, status);
    before.current = status;
    if (changes.length > 0) setSaid(changes.join(" "));
  }, [status]);
  return <div class="unseen" role="status" aria-live="polite">{said}</div>;
}
