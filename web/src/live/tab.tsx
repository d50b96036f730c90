import { useState } from "preact/hooks";
import { formatClock, formatPlural, formatSpan } from "../format";
import { Nothing } from "../panel";
import type { Backend, Device, Status } from "../serve/api";
import type { ServedTabProps } from "../serve/tab";
import { AlertTable, LastingAlerts } from "./alerts";
import { DeviceBlock } from "./device";
import { useFeed } from "./feed";
import "./live.css";
import { Processes } from "./processes";
import { WindowChooser } from "./window";

export function LiveTab({ feed }: ServedTabProps) {
  useFeed(feed);
  const [windowMs, setWindow] = useState(600_000);
  const { status } = feed;
  if (!status) return feed.connection === "lost" ? null : <Nothing>Waiting for the first sample…</Nothing>;
  const { devices } = status;
  const lasting = status.alerts.filter(({ cleared_ns }) => cleared_ns === undefined);
  const ended = status.alerts.filter(({ cleared_ns }) => cleared_ns !== undefined);
  const indexOf = (uuid: string) => devices.find((device) => device.uuid === uuid)?.index ?? null;
  return (
    <>
      <section class="story live-story">
        <div>
          <h1>{storyOf(status, lasting.length)}</h1>
          <p>{noteOf(status)}</p>
        </div>
        {devices.length > 0 && <WindowChooser windowMs={windowMs} choose={setWindow} />}
      </section>
      <LastingAlerts alerts={lasting} indexOf={indexOf} />
      {devices.length === 0 && <NoDevice backends={status.backends} />}
      <div class={`devices c12 ${feed.connection}`} data-count={devices.length}>
        {devices.map((device) => (
          <DeviceBlock
            key={device.uuid}
            device={device}
            alerts={lasting.filter(({ uuid }) => uuid === device.uuid)}
            feed={feed}
            windowMs={windowMs}
            interval={status.interval_seconds}
          />
        ))}
      </div>
      {devices.length > 0 && <Problems backends={status.backends} />}
      <Processes feed={feed} />
      <AlertTable title="Earlier alerts" alerts={ended} lasting="still lasts" />
    </>
  );
}

function storyOf({ devices, time_ns }: Status, alerts: number): string {
  if (time_ns === null) return "Waiting for the first sample.";
  if (devices.length === 0) return "No GPU found.";
  const known = devices.flatMap(({ state, utilization_percent }) => (state === "ok" && utilization_percent !== undefined ? [utilization_percent] : []));
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const gpus = formatPlural(devices.length, "GPU", "GPUs");
  const busy = known.length === 0 ? "" : `, ${Math.round(mean)} % busy${known.length > 1 ? " on average" : ""}`;
  const count = (one: Device["state"]) => devices.filter(({ state }) => state === one).length;
  const rest = [
    count("lost") > 0 && `${count("lost")} lost`,
    count("no_permission") > 0 && `${count("no_permission")} without permission`,
    alerts > 0 && formatPlural(alerts, "alert", "alerts"),
  ].filter(Boolean).join(", ");
  return `${gpus}${busy}.${rest ? ` ${rest}.` : " All is well."}`;
}

const noteOf = ({ demo, interval_seconds, time_ns, fathom }: Status): string =>
  [
    demo && "Demo: these GPUs do not exist",
    time_ns !== null && `as of ${formatClock(time_ns / 1e6)}`,
    `a sample every ${formatSpan(1000 * interval_seconds).replace(".0 ", " ")}`,
    `fathom ${fathom}`,
  ].filter(Boolean).join(" · ");

// Nothing is wrong with a machine that has no GPU.
function NoDevice({ backends }: { backends: Backend[] }) {
  return (
    <div class="no-device c12">
      <p>Fathom keeps looking: a GPU that appears is shown here. Sessions and traces work without one.</p>
      <Problems backends={backends} />
    </div>
  );
}

// Sources of figures that could not be asked, and why.
function Problems({ backends }: { backends: Backend[] }) {
  const failing = backends.filter(({ problem }) => problem !== "");
  if (failing.length === 0) return null;
  return (
    <ul class="backends c12">
      {failing.map(({ name, problem }) => <li key={name}><code>{name}</code> {problem}</li>)}
    </ul>
  );
}
