import { useEffect, useState } from "preact/hooks";
import { History } from "../history/history";
import { ask, Refusal, type Alert, type Samples, type Status } from "../serve/api";
import { isStale } from "./stale";

// connecting: not yet heard of; lost: it was there, and is asked again and again; paused: the page is hidden.
export type Connection = "connecting" | "open" | "lost" | "paused";

const kRetryMs = 1000;
const kRetryMostMs = 5000;
const kSilenceMs = 10_000;
const kClockSetBackMs = 5000; // what is this much before the last sample is a new time, not an old sample
const prefersCalm = matchMedia("(prefers-reduced-motion: reduce)");

// What the server tells as it happens. It tells of itself by two events: "change", at most once per frame, and
// "session" when one was started or stopped.
// Nothing is asked while the page is hidden; what happened meanwhile is in the server's history.
export class Feed extends EventTarget {
  status: Status | null = null;
  connection: Connection = "connecting";
  lostAt = NaN; // milliseconds since 1970
  readonly history = new History();

  private stream: EventSource | null = null;
  private attempt = 0; // answers to an earlier one come too late
  private retryMs = kRetryMs;
  private retry = 0; // timers
  private watch = 0;
  private heard = performance.now();
  private isTelling = false;

  start(): void {
    document.addEventListener("visibilitychange", this.follow);
    this.watch = setInterval(() => this.listenForSilence(), 1000);
    this.follow();
  }

  stop(): void {
    document.removeEventListener("visibilitychange", this.follow);
    clearInterval(this.watch);
    this.hangUp();
  }

  private readonly follow = () => {
    if (document.hidden) {
      this.hangUp();
      this.connection = "paused";
    } else {
      void this.connect();
    }
  };

  private hangUp(): void {
    ++this.attempt;
    clearTimeout(this.retry);
    this.stream?.close();
    this.stream = null;
  }

  // First what was missed, then the stream: samples come in order.
  private async connect(): Promise<void> {
    this.hangUp();
    const attempt = this.attempt;
    const missed = (performance.now() - this.heard) / 1000 + 5;
    try {
      const samples = await ask<Samples>(this.history.length > 0 ? `/api/gpu/history?seconds=${missed.toFixed(0)}` : "/api/gpu/history");
      if (attempt !== this.attempt) return;
      this.history.appendAll(samples);
    } catch (error) {
      if (attempt !== this.attempt) return;
      const isGone = error instanceof Refusal && [0, 401].includes(error.status);
      if (isGone) return this.lose(); // else there is no past, and the stream may go on
    }
    const stream = new EventSource("/api/events");
    this.stream = stream;
    stream.onerror = () => this.lose();
    const on = <T>(name: string, take: (data: T) => void) =>
      stream.addEventListener(name, (event: MessageEvent<string>) => {
        this.heard = performance.now();
        take(JSON.parse(event.data) as T);
      });
    on("snapshot", (status: Status) => this.take(status));
    on("alert", (alert: Alert) => this.takeAlert(alert));
    on("session", () => this.dispatchEvent(new Event("session")));
  }

  private take(status: Status): void {
    this.status = status;
    this.connection = "open";
    this.retryMs = kRetryMs;
    if (status.time_ns !== null) this.remember(status.time_ns / 1e6, status);
    this.tell();
  }

  // Old figures are not remembered as new ones: a driver that hangs is a gap, not a steady GPU.
  private remember(timeMs: number, { devices, interval_seconds }: Status): void {
    if (timeMs < this.history.end - kClockSetBackMs) this.history.clear();
    const present = devices.filter((device) => device.state === "ok" && !isStale(device, interval_seconds));
    this.history.append(timeMs, present.map((device) => [device.uuid, device]));
  }

  // Between two samples; the next one says the same.
  private takeAlert(alert: Alert): void {
    if (!this.status) return;
    const others = this.status.alerts.filter(({ id }) => id !== alert.id);
    this.status = { ...this.status, alerts: [alert, ...others] };
    this.tell();
  }

  private lose(): void {
    this.hangUp();
    if (this.connection !== "lost") this.lostAt = Date.now();
    this.connection = "lost";
    this.retry = setTimeout(() => void this.connect(), this.retryMs);
    this.retryMs = Math.min(kRetryMostMs, this.retryMs * 1.5);
    this.tell();
  }

  // A connection can be gone without anybody saying so: a laptop that slept, a cable.
  private listenForSilence(): void {
    if (this.connection !== "open" || !this.status) return;
    const most = Math.max(kSilenceMs, 5000 * this.status.interval_seconds);
    if (performance.now() - this.heard > most) this.lose();
  }

  private tell(): void {
    if (this.isTelling) return;
    this.isTelling = true;
    const now = () => {
      this.isTelling = false;
      this.dispatchEvent(new Event("change"));
    };
    if (prefersCalm.matches) setTimeout(now, 1000);
    else requestAnimationFrame(now);
  }
}

// Draws the component again when the feed changes; at most every `everyMs`.
export function useFeed(feed: Feed, everyMs = 0): void {
  const [, draw] = useState(0);
  useEffect(() => {
    let last = 0;
    let later = 0;
    const changed = () => {
      const wait = last + everyMs - performance.now();
      if (later !== 0) return;
      const now = () => {
        later = 0;
        last = performance.now();
        draw((count) => count + 1);
      };
      if (wait > 0) later = setTimeout(now, wait);
      else now();
    };
    feed.addEventListener("change", changed);
    return () => {
      clearTimeout(later);
      feed.removeEventListener("change", changed);
    };
  }, [feed]);
}
