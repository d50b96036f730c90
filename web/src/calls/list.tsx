import { useEffect, useMemo, useState } from "preact/hooks";
import { spanAddress } from "../address";
import { formatCount, formatDuration, known, tickText } from "../format";
import { Panel } from "../panel";
import { hasTimeline, type Source } from "../source";
import { DataTable, type Column } from "../table";
import type { Timeline } from "../timeline/decode";
import { timelineOf } from "../timeline/load";
import { trackOf } from "../timeline/stack";
import { callsOf } from "./calls";

// Every call of an operation, the longest first; each leads to its place on the timeline. Nothing on a page without one.
export function CallList(props: { source: Source; name: string; kind: string; what: { one: string; many: string } }) {
  const { source, name, kind, what } = props;
  const [timeline, setTimeline] = useState<Timeline | null>(null);
  useEffect(() => {
    let current = true;
    void timelineOf(source).then((found) => { if (current) setTimeline(found); });
    return () => { current = false; };
  }, [source]);
  const calls = useMemo(() => timeline && callsOf(timeline, name, kind), [timeline, name, kind]);
  const columns = useMemo(() => (timeline ? columnsOf(timeline) : []), [timeline]);
  if (!hasTimeline(source)) return null;
  if (!timeline || !calls) return <Panel title={`Its ${what.many}`} span={12}><p class="quiet list-space" aria-busy="true">Reading the timeline…</p></Panel>;
  if (calls.spans.length === 0) return null;
  return (
    <Panel title={`Its ${what.many}`} note={calls.leftOut > 0 ? `the longest; ${formatCount(calls.leftOut)} shorter ones are on the timeline` : "each leads to the timeline"} span={12}>
      <DataTable
        label={what} rows={calls.spans} columns={columns} name={(span) => trackOf(timeline, span).name} href={spanAddress}
        sort={{ column: 1, down: true }} height={360}
      />
    </Panel>
  );
}

function columnsOf(timeline: Timeline): Column<number>[] {
  const { rows, launch } = timeline;
  const waited = (span: number): number | null => (launch[span]! < 0 ? null : Math.max(0, rows.start[span]! - rows.end(launch[span]!)));
  const hasLaunch = launch.some((call) => call >= 0);
  return [
    { label: "begins at", value: (span) => rows.start[span]!, text: (span) => tickText(rows.start[span]!, 1e3), unit: "ns", saved: (span) => rows.start[span]! },
    { label: "duration", value: (span) => rows.length[span]!, text: (span) => formatDuration(rows.length[span]!), unit: "ns", width: 96, narrow: true },
    ...(hasLaunch ? [{ label: "after its launch", value: waited, text: (span: number) => known(waited(span), (ns) => (ns > 0 ? formatDuration(ns) : "at once")), unit: "ns", width: 128 }] : []),
    { label: "on", left: true, value: (span) => trackOf(timeline, span).name, text: (span) => trackOf(timeline, span).name, width: 260 },
  ];
}
