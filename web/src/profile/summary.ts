import { formatBytes, formatCount, formatDuration, formatPercent, formatPlural } from "../format";
import type { Bottleneck, Card, Memory, Ring, Scope, Slices, Story, Summary } from "../summary";
import { numberOf, textOf, type Entry, type Profile } from "./read";
import { suggestionsOfProfile } from "./suggestions";
import { outermost, scopesOf, weightOf } from "./scopes";

const kBottlenecks = 5;
const kBars = 12;

// The summary document of a profile JSON that is dropped onto the page: the one case that is not worked
// out in C++. src/report/page/profile.cpp says the same of a profile when it writes a page.
export function summaryOfProfile(profile: Profile, source: string): Summary {
  const scopes = scopesOf(profile);
  const top = outermost(profile.entries);
  const ring = ringOf(top);
  const duration = profile.entries.reduce((most, entry) => Math.max(most, entry.end_ns), 0);
  const dropped = numberOf(profile.run["dropped_entries"]) ?? 0;
  return {
    fathom: profile.version ?? "",
    run: {
      source,
      name: textOf(profile.run["command"]) || source,
      format: "profile JSON",
      command: textOf(profile.run["command"]),
      rank: numberOf(profile.run["rank"]),
      world_size: numberOf(profile.run["world_size"]),
      duration_ns: profile.entries.length > 0 ? duration : null,
      spans: profile.entries.length,
      threads: new Set(profile.entries.map((entry) => entry.thread)).size,
      gpu_streams: 0,
      devices: [],
    },
    story: storyOf(scopes, ring, profile.entries.length),
    cards: scopes.length === 0 ? [] : cardsOf(profile, scopes, ring),
    ring,
    slices: partsByScope(scopes),
    operations: [],
    operators: { kernels: [], list: [] },
    classes: [],
    efficiency: {
      device_name: null, mfu_pct: null, steps: [], work: [], text: [],
      peaks: { fp32_tflops: null, tf32_tflops: null, fp16_tflops: null, fp8_tflops: null, memory_gb_s: null },
    },
    scopes,
    bottlenecks: bottlenecksOf(scopes),
    advice: { findings: [], recommendations: [] },
    suggestions: suggestionsOfProfile(scopes, profile.figures),
    memory: memoryOf(profile.entries),
    ranks: [],
    skew: null,
    warnings: dropped > 0 ? [`${formatPlural(dropped, "entry was", "entries were")} dropped; the figures of the scopes hold for all.`] : [],
  };
}

// The parts of what the outermost scopes took; where the parts were not measured, there is no ring.
function ringOf(entries: Entry[]): Ring | null {
  const sum = (value: (entry: Entry) => number | null) => entries.reduce((total, entry) => total + (value(entry) ?? 0), 0);
  const parts: Ring["parts"] = [
    { label: "GPU", part: "gpu", ns: sum((entry) => entry.gpu_ns) },
    { label: "transfer", part: "transfer", ns: sum((entry) => entry.transfer_ns) },
    { label: "overhead", part: "overhead", ns: sum((entry) => entry.overhead_ns) },
    { label: "CPU", part: "cpu", ns: sum((entry) => entry.cpu_ns) },
  ];
  const total_ns = parts.reduce((total, part) => total + part.ns, 0);
  return total_ns > 0 ? { caption: "in scopes", total_ns, parts } : null;
}

function partsByScope(scopes: Scope[]): Slices | null {
  const measured = scopes
    .filter((scope) => scope.gpu_ns !== null || scope.cpu_ns !== null || scope.transfer_ns !== null || scope.overhead_ns !== null)
    .sort((a, b) => (b.total_ns ?? 0) - (a.total_ns ?? 0))
    .slice(0, kBars);
  if (measured.length === 0) return null;
  return {
    title: "GPU, transfer, overhead and CPU by operation",
    labels: measured.map((scope) => scope.name),
    windows: [],
    parts: [
      { part: "gpu", label: "GPU", ns: measured.map((scope) => scope.gpu_ns ?? 0), total_ns: null },
      { part: "transfer", label: "transfer", ns: measured.map((scope) => scope.transfer_ns ?? 0), total_ns: null },
      { part: "overhead", label: "overhead", ns: measured.map((scope) => scope.overhead_ns ?? 0), total_ns: null },
      { part: "cpu", label: "CPU", ns: measured.map((scope) => scope.cpu_ns ?? 0), total_ns: null },
    ],
  };
}

function bottlenecksOf(scopes: Scope[]): Bottleneck[] {
  let cumulative_pct = 0;
  return scopes.slice(0, kBottlenecks).flatMap((scope) => {
    if (scope.share_pct === null || weightOf(scope) <= 0) return [];
    cumulative_pct += scope.share_pct;
    return [{ name: scope.name, kind: "scope", part: scope.part, self_ns: weightOf(scope), share_pct: scope.share_pct, cumulative_pct }];
  });
}

function storyOf(scopes: Scope[], ring: Ring | null, entries: number): Story {
  const count = formatPlural(scopes.length, "operation", "operations");
  const first = bottlenecksOf(scopes)[0];
  const gpu = ring?.parts[0]?.ns ?? 0;
  const detail = `${count} · ${entries > 0 ? formatPlural(entries, "entry", "entries") : "a summary without entries"}`;
  if (scopes.length === 0) return { headline: "No operations in this profile.", detail: "" };
  const most = first ? `${first.name} took ${formatPercent(first.share_pct)} of the time by itself.` : "";
  if (!ring || gpu <= 0) return { headline: `No GPU time was measured. ${most}`, detail };
  return { headline: `The GPU worked ${formatPercent((gpu / ring.total_ns) * 100)} of ${formatDuration(ring.total_ns)}. ${most}`, detail };
}

function cardsOf(profile: Profile, scopes: Scope[], ring: Ring | null): Card[] {
  const cards: Card[] = (ring?.parts ?? []).map((part) => ({
    label: part.label,
    value: formatPercent((part.ns / ring!.total_ns) * 100),
    note: formatDuration(part.ns),
  }));
  const calls = scopes.reduce((sum, scope) => sum + scope.calls, 0);
  cards.push({ label: "Calls", value: formatCount(calls), note: formatPlural(scopes.length, "operation", "operations") });
  const peak = profile.entries.reduce<number | null>((most, entry) => maxKnown(most, entry.peak_bytes), null);
  if (peak !== null) cards.push({ label: "Peak memory", value: formatBytes(peak), note: "of any scope" });
  return cards;
}

const maxKnown = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : Math.max(a, b));

function memoryOf(entries: Entry[]): Memory | null {
  const points = entries
    .filter((entry) => entry.memory_bytes !== null)
    .map((entry) => ({ time: entry.end_ns, bytes: entry.memory_bytes ?? 0 }))
    .sort((a, b) => a.time - b.time || a.bytes - b.bytes);
  if (points.length === 0) return null;
  const peak = points.reduce((most, point) => (point.bytes > most.bytes ? point : most));
  const series = { what: "allocated" as const, label: "allocated at the end of each scope", times_ns: points.map((point) => point.time), bytes: points.map((point) => point.bytes) };
  const card = { label: "Peak", value: formatBytes(peak.bytes), note: `${formatDuration(peak.time)} into the profile` };
  return { devices: [{ label: "Memory", part: "gpu", series: [series], cards: [card], at_peak: [], unknown_at_peak: 0, leaks: [] }], host: null, host_peak_bytes: null };
}
