import { useState } from "preact/hooks";
import { ask, type Session } from "../serve/api";

// Starts a session. `interval` is what samples are apart in if the reader says nothing else, in seconds.
export function StartForm(props: { interval: number; started: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [interval, setInterval] = useState("");
  const [refused, setRefused] = useState("");
  const [isAsking, setAsking] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setAsking(true);
    const body = { name: name.trim(), description: description.trim(), ...(interval && { monitoring_interval_seconds: Number(interval) }) };
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
            step="any"
            placeholder={String(props.interval)}
            value={interval}
            onInput={(event) => setInterval(event.currentTarget.value)}
          />
        </label>
        <button class="action" disabled={isAsking}>Start</button>
      </div>
      <p class="refused" role="alert">{refused}</p>
    </form>
  );
}
