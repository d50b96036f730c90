import { useMemo } from "preact/hooks";
import { formatBytes, formatCount, formatSpan } from "../format";
import { formatMegahertz, kFigures, type Figure } from "../history/figures";
import { Trend } from "../history/trend";
import { SavePanelButton } from "../save";
import type { Alert, Device } from "../serve/api";
import type { Token } from "../theme";
import type { Feed } from "./feed";
import { isStale } from "./stale";
import { kAlarming, throttleWords } from "./throttle";
import { liveTrend } from "./window";

// What holds of a device that is not well, and why that is.
const kStates: Record<Exclude<Device["state"], "ok">, { word: string; why: string }> = {
  lost: { word: "lost", why: "It was here and does not answer any more. The figures are the last that it told." },
  suspended: { word: "asleep", why: "It sleeps to save power. Asking it for figures would wake it." },
  no_permission: { word: "no permission", why: "Its driver does not let this user read its figures." },
};

// A GPU: what it is, how it is, and how that came to be.
export function DeviceBlock(props: { device: Device; alerts: Alert[]; feed: Feed; windowMs: number; interval: number }) {
  const { device, feed } = props;
  const state = device.state === "ok" ? null : kStates[device.state];
  const shown = kFigures.filter(({ metric }) => device[metric] !== undefined || feed.history.knows(device.uuid, metric));
  return (
    <section class="panel device" data-state={device.state} id={`gpu-${device.index}`} aria-label={`GPU ${device.index}, ${device.name}`}>
      <h2>
        <span class="index">{device.index}</span>
        <span class="name" title={device.name}>{device.name}</span>
        {state && <span class={`chip ${device.state}`}>{state.word}</span>}
        {device.needs_reset && <span class="chip lost">needs a reset</span>}
        {isStale(device, props.interval) && <span class="chip stale">figures are {formatSpan(1000 * (device.age_seconds ?? 0))} old</span>}
      </h2>
      <SavePanelButton what={`device ${device.index}`} />
      <p class="identity" title={device.uuid}>
        {[device.vendor, device.type !== "gpu" && device.type, device.driver && `driver ${device.driver}`, device.pci_address, device.backend].filter(Boolean).join(" · ")}
      </p>
      {state && <p class="said">{state.why}</p>}
      {shown.length === 0 && !state && <p class="said">Its driver tells no figures.</p>}
      <div class="meters">
        {shown.map((figure, at) => (
          <Meter
            key={figure.metric}
            figure={figure}
            device={device}
            alerts={props.alerts}
            feed={feed}
            windowMs={props.windowMs}
            hasClock={at === shown.length - 1}
          />
        ))}
      </div>
      <Facts device={device} />
    </section>
  );
}

// The bar and the trend of a figure, coloured while an alert about it lasts.
function Meter(props: { figure: Figure; device: Device; alerts: Alert[]; feed: Feed; windowMs: number; hasClock: boolean }) {
  const { figure, device, feed, windowMs } = props;
  const value = device[figure.metric];
  const known = figure.top(device);
  const source = useMemo(() => liveTrend(feed, device.uuid, figure.metric, windowMs), [feed, device.uuid, figure.metric, windowMs]);
  const top = Number.isNaN(known) ? figure.topOf(value ?? 0) : known;
  const limit = figure.limit(device);
  const tone = toneOf(props.alerts.filter(({ kind }) => figure.alerts.includes(kind)));
  const share = value === undefined ? 0 : Math.min(1, Math.max(0, value / top));
  return (
    <div class={`meter ${tone}`} data-metric={figure.metric}>
      <div class="now">
        <span class="what">{figure.label}</span>
        <span class="value">{value === undefined ? "–" : <Value figure={figure} device={device} value={value} />}</span>
        <div class="level" aria-hidden="true">
          <i style={{ transform: `scaleX(${share.toFixed(4)})` }} />
          {limit !== null && <b style={{ left: `${(100 * limit) / top}%` }} />}
        </div>
      </div>
      <Trend
        label={`${figure.label} of GPU ${device.index}`}
        source={source}
        top={top}
        limit={limit}
        tone={tone}
        text={figure.text}
        tick={figure.tick}
        hasClock={props.hasClock}
      />
    </div>
  );
}

function toneOf(alerts: Alert[]): Token {
  if (alerts.some(({ severity }) => severity === "critical")) return "bad";
  return alerts.length > 0 ? "warn" : "gpu";
}

// The figure, and what it is of.
function Value({ figure, device, value }: { figure: Figure; device: Device; value: number }) {
  const text = figure.text(value);
  const { memory_total_bytes: memory, power_limit_watts: power, slowdown_celsius: slowdown } = device;
  if (figure.metric === "memory_used_bytes" && memory !== undefined) return <><b>{text}</b> of {formatBytes(memory)}</>;
  if (figure.metric === "power_watts" && power !== undefined) return <><b>{text}</b> of {Math.round(power)} W</>;
  if (figure.metric === "temperature_celsius" && slowdown !== undefined) return <><b>{text}</b> slows at {Math.round(slowdown)}</>;
  return <b>{text}</b>;
}

// The rest of what it tells. Each has its place, so that nothing moves when a figure changes.
function Facts({ device }: { device: Device }) {
  const facts: { label: string; text: string; isBad?: boolean }[] = [];
  const add = (label: string, value: number | undefined, text: (value: number) => string, isBad = false) => {
    if (value !== undefined) facts.push({ label, text: text(value), isBad });
  };
  const { max_core_clock_hz: most } = device;
  add("Core clock", device.core_clock_hz, (hertz) => (most === undefined ? formatMegahertz(hertz) : `${formatCount(hertz / 1e6)} of ${formatMegahertz(most)}`));
  add("Memory clock", device.memory_clock_hz, formatMegahertz);
  add("Memory busy", device.memory_utilization_percent, (value) => `${Math.round(value)} %`);
  add("Memory temperature", device.memory_temperature_celsius, (value) => `${Math.round(value)} °C`);
  add("Reserved", device.memory_reserved_bytes, formatBytes);
  if (device.fan_percent !== undefined) add("Fan", device.fan_percent, (value) => `${Math.round(value)} %`);
  else add("Fan", device.fan_rpm, (value) => `${formatCount(value)} rpm`);
  add("Encoder", device.encoder_percent, (value) => `${Math.round(value)} %`);
  add("Decoder", device.decoder_percent, (value) => `${Math.round(value)} %`);
  const corrected = device.ecc_corrected ?? 0;
  const uncorrected = device.ecc_uncorrected ?? 0;
  if (device.ecc_corrected !== undefined || device.ecc_uncorrected !== undefined) {
    const text = corrected + uncorrected === 0 ? "none" : `${formatCount(corrected)} corrected, ${formatCount(uncorrected)} uncorrected`;
    facts.push({ label: "Memory errors", text, isBad: uncorrected > 0 });
  }
  if (device.last_error) facts.push({ label: "Last driver error", text: `XID ${device.last_error.xid}`, isBad: true });
  const { throttle } = device;
  if (throttle) {
    facts.push({ label: "Throttling", text: throttleWords(throttle), isBad: throttle.some((reason) => kAlarming.has(reason)) });
  }
  if (facts.length === 0) return null;
  return (
    <dl class="rest">
      {facts.map(({ label, text, isBad }) => (
        <div key={label} class={label === "Throttling" ? "long" : undefined}><dt>{label}</dt><dd class={isBad ? "bad" : undefined}>{text}</dd></div>
      ))}
    </dl>
  );
}
