import { useState } from "preact/hooks";
import { ask, type Session } from "../serve/api";

// Settings that a session may have of its own, as in docs/openapi.yaml; the interval stands beside them.
const kLimits: { name: string; label: string; most: number }[] = [
  { name: "temperature_warning_celsius", label: "Temperature, warning, °C", most: 200 },
  { name: "temperature_critical_celsius", label: "Temperature, critical, °C", most: 200 },
  { name: "memory_warning_percent", label: "Memory, warning, %", most: 100 },
  { name: "memory_critical_percent", label: "Memory, critical, %", most: 100 },
  { name: "utilization_warning_percent", label: "Utilisation, warning, %", most: 100 },
];
const kParts: { name: string; label: string }[] = [
  { name: "enable_thermal_monitoring", label: "Temperatures" },
  { name: "enable_power_monitoring", label: "Power" },
  { name: "enable_memory_tracking", label: "Memory" },
];

// Starts a session. `interval` is what samples are apart in if the reader says nothing else, in seconds.
export function StartForm(props: { interval: number; started: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [interval, setInterval] = useState("");
  const [limits, setLimits] = useState<Record<string, string>>({});
  const [left, setLeft] = useState<Record<string, boolean>>({}); // what is not recorded
  const [refused, setRefused] = useState("");
  const [isAsking, setAsking] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setAsking(true);
    const body: Record<string, string | number | boolean> = { name: name.trim(), description: description.trim() };
    if (interval) body.monitoring_interval_seconds = Number(interval);
    for (const [limit, text] of Object.entries(limits)) if (text) body[limit] = Number(text);
    for (const [part, isLeft] of Object.entries(left)) if (isLeft) body[part] = false;
    try {
      await ask<Session>("/api/sessions", { body });
      setName("");
      setDescription("");
      setRefused("");
      props.started();
    } catch (error) {
      setRefused((error as Error).message);
    }
    setAsking(false);
  };
  return (
    <form class="start" onSubmit={submit}>
      <div class="fields">
        <label>Name<input name="name" required value={name} onInput={(event) => setName(event.currentTarget.value)} /></label>
        <label>Description<input name="description" value={description} onInput={(event) => setDescription(event.currentTarget.value)} /></label>
        <label>
          Interval, s
          <input
            name="interval"
            type="number"
            min="0.01"
            max="3600"
            step="any"
            placeholder={String(props.interval)}
            value={interval}
            onInput={(event) => setInterval(event.currentTarget.value)}
          />
        </label>
        <button class="action" disabled={isAsking}>Start</button>
      </div>
      <details>
        <summary>Limits and contents of its own</summary>
        <div class="fields">
          {kLimits.map(({ name: limit, label, most }) => (
            <label key={limit}>
              {label}
              <input
                name={limit}
                type="number"
                min="0"
                max={String(most)}
                step="any"
                placeholder="as the server"
                value={limits[limit] ?? ""}
                onInput={(event) => setLimits({ ...limits, [limit]: event.currentTarget.value })}
              />
            </label>
          ))}
        </div>
        <div class="fields">
          {kParts.map(({ name: part, label }) => (
            <label key={part} class="part">
              <input name={part} type="checkbox" checked={!left[part]} onInput={(event) => setLeft({ ...left, [part]: !event.currentTarget.checked })} />
              {label}
            </label>
          ))}
        </div>
      </details>
      <p class="refused" role="alert">{refused}</p>
    </form>
  );
}
