import { formatCount, formatDuration } from "../format";
import { Panel } from "../panel";
import type { Compilation } from "./data";
import { kPhases } from "./phases";
import { Stack } from "./stack";

const kEventsShown = 12;

// One compilation: its figures, and what its log says of it.
export function CompilationDetails({ one, rank }: { one: Compilation; rank: number | null }) {
  const time = (ms: number) => formatDuration(ms * 1e6);
  const facts: [string, string | null][] = [
    ["time", one.time_ms === null ? null : time(one.time_ms)],
    ...kPhases.map(({ id, label }): [string, string | null] => [label, one.phases_ms[id] === null ? null : time(one.phases_ms[id])]),
    ["attempts", one.attempts > 1 ? formatCount(one.attempts) : null],
    ["operations of the graph", one.graph_ops === null ? null : formatCount(one.graph_ops)],
    ["guards", one.guards === null ? null : formatCount(one.guards)],
    ["rank", rank === null ? null : String(rank)],
  ];
  const events = Object.entries(one.events_ms).slice(0, kEventsShown);
  const longest = Math.max(...events.map(([, ms]) => ms), 0);
  return (
    <Panel title="Chosen compilation" span={12}>
      <p class="fullname">[{one.id}] {one.function ?? "(no name)"}{one.file && ` · ${one.file}:${one.line ?? "?"}`}</p>
      <dl class="facts">
        {facts.filter(([, value]) => value !== null).map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{value}</dd></div>)}
      </dl>
      {one.fail_type !== null && <Texts title={`Failed${one.fail_where ? ` at ${one.fail_where}` : ""}`} lines={[[one.fail_type, one.fail_reason].filter(Boolean).join(": ")]} />}
      <Texts title="Guards that failed, newest version first" lines={one.recompile_reasons} />
      <Texts title="Graph breaks" lines={one.graph_breaks.map((each) => [each.reason, each.where].filter(Boolean).join(" · "))} />
      <Texts title="Begun anew because" lines={one.restart_reasons} />
      <Texts title="CUDA graphs were not used" lines={one.cudagraph_skips} />
      <Texts title="Caches" lines={one.caches.map((event) => [`${event.cache}: ${event.outcome}`, event.reason, event.saved_ms === null ? null : `saved ${time(event.saved_ms)}`, event.key].filter(Boolean).join(" · "))} />
      {events.length > 0 && <h3>Time within what torch logs as events; they nest</h3>}
      {events.map(([name, ms]) => (
        <div key={name} class="event"><span title={name}>{name}</span><span class="bar"><i class="phase aot_autograd" style={{ width: `${longest > 0 ? (ms / longest) * 100 : 0}%` }} /></span><b>{time(ms)}</b></div>
      ))}
      {one.stack.length > 0 && <h3>Called from</h3>}
      <Stack frames={one.stack} />
    </Panel>
  );
}

function Texts({ title, lines }: { title: string; lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="texts">{lines.map((line, index) => <li key={index}>{line}</li>)}</ul>
    </>
  );
}
