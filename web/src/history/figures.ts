import { bytesStep, bytesTick, formatBytes, formatCount, formatPercent, formatPlural } from "../format";
import type { Device, HistoryMetric } from "../serve/api";

// The figures of a device that have a history: what they are called, how they are written, and how far they can go.
export interface Figure {
  metric: HistoryMetric;
  label: string;
  alerts: string[]; // kinds of alerts that are about it
  text: (value: number) => string;
  tick: (value: number) => string;
  // The top of its bar and chart; NaN where the device does not tell.
  top: (device: Device) => number;
  // What it should stay below, where that is less than the top.
  limit: (device: Device) => number | null;
  // The top for values of which nothing more is known.
  topOf: (most: number) => number;
}

export const kFigures: readonly Figure[] = [
  {
    metric: "utilization_percent",
    label: "Utilisation",
    alerts: ["utilization"],
    text: (value) => `${Math.round(value)} %`,
    tick: (value) => `${value} %`,
    top: () => 100,
    limit: () => null,
    topOf: () => 100,
  },
  {
    metric: "memory_used_bytes",
    label: "Memory",
    alerts: ["memory", "leak"],
    text: formatBytes,
    tick: bytesTick,
    top: (device) => device.memory_total_bytes ?? NaN,
    limit: () => null,
    topOf: (most) => 2 * bytesStep(Math.max(most, 1), 2),
  },
  {
    metric: "temperature_celsius",
    label: "Temperature",
    alerts: ["thermal"],
    text: (value) => `${Math.round(value)} °C`,
    tick: (value) => `${Math.round(value)} °C`,
    top: (device) => Math.max(100, device.shutdown_celsius ?? 0, device.slowdown_celsius ?? 0),
    limit: (device) => device.slowdown_celsius ?? null,
    topOf: (most) => Math.max(100, most),
  },
  {
    metric: "power_watts",
    label: "Power",
    alerts: ["throttling"],
    text: (value) => `${Math.round(value)} W`,
    tick: (value) => `${Math.round(value)} W`,
    top: (device) => device.power_limit_watts ?? NaN,
    limit: () => null,
    topOf: (most) => 100 * Math.ceil(Math.max(most, 1) / 100),
  },
];

// Any figure that a device may have, by the unit at the end of its name: "fan_percent" is "fan" and "45.0 %".
export function figureOf(name: string): { label: string; text: (value: number) => string } {
  const unit = Object.keys(kUnits).find((ending) => name.endsWith(ending));
  const label = (unit ? name.slice(0, -unit.length) : name).replaceAll("_", " ").replace("utilization", "utilisation");
  return { label, text: unit ? kUnits[unit]! : formatCount };
}

const kUnits: Record<string, (value: number) => string> = {
  _percent: formatPercent,
  _bytes: formatBytes,
  _celsius: (value) => `${formatTenths(value)} °C`,
  _watts: (value) => `${formatTenths(value)} W`,
  _joules: (value) => formatPlural(value, "J", "J"),
  _hz: (value) => formatMegahertz(value),
  _rpm: (value) => `${formatCount(value)} rpm`,
};

export const formatMegahertz = (hertz: number): string => `${formatCount(hertz / 1e6)} MHz`;

const formatTenths = (value: number): string => value.toFixed(1);
