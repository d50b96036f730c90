import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { navigate } from "../canvas/navigation";
import { fitted } from "../canvas/view";
import { Tooltip, type Tip } from "../canvas/tooltip";
import { ClassFilter } from "../class_filter";
import { fillOfClass } from "../classes";
import { Choice } from "../flame/drawing";
import { formatDuration, formatCount, formatPercent } from "../format";
import { Legend, Nothing } from "../panel";
import type { Source } from "../source";
import type { ClassTime } from "../summary";
import type { TabProps } from "../tab";
import { decodeTimeline, type Timeline } from "./decode";
import { Details } from "./details";
import { findSpans, neighbour } from "./find";
import { TimelineScene } from "./scene";

const kColours: { id: "part" | "class"; title: string; hint: string }[] = [
  { id: "part", title: "By part", hint: "Colours say what the time is spent on: GPU work, communication, copies, the host" },
  { id: "class", title: "By class", hint: "Colours of GPU work say its class: GEMM, attention, elementwise, …" },
];

// Decoded once a source, so that coming back to the tab is immediate.
const decoded = new WeakMap<Source, Promise<Timeline | null>>();

export function timelineOf(source: Source): Promise<Timeline | null> {
  let timeline = decoded.get(source);
  if (!timeline) {
    timeline = source.timeline().then((bytes) => (bytes ? decodeTimeline(bytes) : null));
    decoded.set(source, timeline);
  }
  return timeline;
}

export function TimelineTab({ source, summary }: TabProps) {
  const [timeline, setTimeline] = useState<Timeline | null | undefined>(undefined);
  useEffect(() => {
    let current = true;
    void timelineOf(source).then((found) => { if (current) setTimeline(found); });
    return () => { current = false; };
  }, [source]);
  if (timeline === undefined) return <p class="nothing" aria-busy="true">Reading the timeline…</p>;
  if (timeline === null) return <Nothing>This page carries no timeline: <code>fathom report TRACE -o report.html</code> makes one with everything.</Nothing>;
  if (timeline.rows.size === 0 && timeline.counters.length === 0) return <Nothing>No spans in this file, so there is nothing to draw.</Nothing>;
  return <Drawn source={source} timeline={timeline} classes={summary.classes} />;
}

function Drawn({ source, timeline, classes }: { source: Source; timeline: Timeline; classes: ClassTime[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const scene = useRef<TimelineScene | null>(null);
  const [selected, setSelected] = useState(-1);
  const [tip, setTip] = useState<Tip | null>(null);
  const [height, setHeight] = useState(0);
  const [seen, setSeen] = useState(timeline.lengthNs);
  const [colours, setColours] = useState<"part" | "class">("part");

  // Before the first paint: who can type into the finder finds a scene to search.
  useLayoutEffect(() => {
    const made = new TimelineScene(timeline, canvas.current!, scroller.current!, {
      selected: setSelected,
      hovered: (span, x, y) => setTip(span < 0 ? null : tipOf(timeline, span, x, y)),
      passed: (instant, x, y) => setTip({ x, y, title: instant.name, lines: [`at ${formatDuration(instant.at)}`] }),
      moved: (view) => {
        setTip(null);
        setSeen(view.end - view.begin);
        remember(view.begin, view.end);
      },
      laidOut: setHeight,
    });
    scene.current = made;
    const asked = remembered();
    if (asked) made.view = fitted(made.view, asked[0], asked[1], made.limits);
    setSeen(made.view.end - made.view.begin);
    made.redraw();
    const span = askedSpan();
    if (span !== null && span < timeline.rows.size) made.show(span);
    const stop = navigate(canvas.current!, scroller.current!, made);
    return () => {
      stop();
      made.close();
    };
  }, [timeline]);

  const everything = () => {
    const made = scene.current!;
    made.view = fitted(made.view, 0, timeline.lengthNs, made.limits);
    made.changed();
  };
  return (
    <section class="drawing">
      <div class="drawing-bar">
        <Finder timeline={timeline} classes={classes} scene={() => scene.current!} selected={selected} />
        <span class="grow" />
        {classes.length > 0 && (
          <Choice
            name="Colours of GPU work" items={kColours} chosen={colours}
            choose={(id) => { setColours(id); scene.current!.colourByClass(id === "class"); }}
          />
        )}
        <span class="quiet">{formatDuration(seen)} of {formatDuration(timeline.lengthNs)} · {formatCount(timeline.rows.size)} spans</span>
        <button class="tool" onClick={everything}>Show all</button>
      </div>
      {colours === "class" && (
        <div class="drawing-legend">
          <Legend items={classes.map((row) => ({ label: row.label, part: fillOfClass(row.class), value: formatPercent(row.share_pct) }))} />
        </div>
      )}
      <div class="drawing-frame">
        <div class="drawing-area" ref={scroller}>
          <canvas
            ref={canvas} tabIndex={0} role="img"
            aria-label={`Timeline of ${formatCount(timeline.rows.size)} spans on ${timeline.tracks.length} tracks, ${formatDuration(timeline.lengthNs)}`}
          />
          <div style={{ height: `max(0px, ${height}px - 100%)` }} />
        </div>
        {tip && <Tooltip tip={tip} />}
      </div>
      {selected >= 0 && (
        <Details
          source={source} timeline={timeline} span={selected} track={scene.current!.trackOf(selected)}
          className={classes.find((row) => row.class === timeline.classes[timeline.rows.label[selected]!])?.label}
          show={(span) => scene.current!.show(span)} close={() => scene.current!.select(-1)}
        />
      )}
      <p class="drawing-help quiet for-fingers">Pinch zooms, drag moves, tap shows details, double tap fits.</p>
      <p class="drawing-help quiet for-mice">Wheel zooms, drag moves, <kbd>shift</kbd>-drag or drag on the ruler zooms to a stretch, click shows details, double click fits, <kbd>W</kbd><kbd>A</kbd><kbd>S</kbd><kbd>D</kbd> and arrows move.</p>
    </section>
  );
}

function Finder(props: { timeline: Timeline; classes: ClassTime[]; scene: () => TimelineScene; selected: number }) {
  const { timeline, classes } = props;
  const [query, setQuery] = useState("");
  const [ofClass, setClass] = useState("");
  const [rank, setRank] = useState(0);
  const matches = useRef<ReturnType<typeof findSpans>>(null);
  const search = (text: string, name: string) => {
    setQuery(text);
    setClass(name);
    setRank(0);
    matches.current = findSpans(timeline, text, name);
    props.scene().matches = matches.current;
    props.scene().redraw();
  };
  const go = (forward: boolean) => {
    if (!matches.current) return;
    const found = neighbour(timeline, matches.current, props.selected, forward);
    if (!found) return;
    setRank(found.rank);
    props.scene().show(found.span);
  };
  const count = matches.current?.count ?? 0;
  return (
    <div class="finder" role="search">
      <input
        type="search" data-finder placeholder="Find spans" aria-label="Find spans" value={query}
        onInput={(event) => search(event.currentTarget.value, ofClass)}
        onKeyDown={(event) => { if (event.key === "Enter") go(!event.shiftKey); }}
      />
      {classes.length > 0 && <ClassFilter classes={classes} chosen={ofClass} choose={(name) => search(query, name)} />}
      {matches.current && (
        <>
          <span class="quiet" role="status">{rank > 0 ? `${formatCount(rank)} of ` : ""}{formatCount(count)} {count === 1 ? "match" : "matches"}</span>
          <button class="tool" disabled={count === 0} onClick={() => go(false)} aria-label="Previous match">↑</button>
          <button class="tool" disabled={count === 0} onClick={() => go(true)} aria-label="Next match">↓</button>
        </>
      )}
    </div>
  );
}

const tipOf = (timeline: Timeline, span: number, x: number, y: number): Tip => ({
  x, y,
  title: timeline.names[timeline.rows.label[span]!]!,
  lines: [`${formatDuration(timeline.rows.length[span]!)} at ${formatDuration(timeline.rows.start[span]!)}`],
});

// What is seen is in the address, so that a link leads to it. The address changes when the view rests.
let pending = 0;
function remember(begin: number, end: number): void {
  clearTimeout(pending);
  pending = window.setTimeout(() => {
    if (!location.hash.startsWith("#timeline")) return;
    history.replaceState(null, "", `#timeline?from=${Math.round(begin)}&to=${Math.round(end)}`);
  }, 250);
}
// A link may lead to a span, by its place: #timeline?span=12.
function askedSpan(): number | null {
  const asked = new URLSearchParams(location.hash.split("?")[1] ?? "").get("span");
  return asked !== null && /^\d+$/.test(asked) ? Number(asked) : null;
}
function remembered(): [number, number] | null {
  const asked = new URLSearchParams(location.hash.split("?")[1] ?? "");
  const [from, to] = [Number(asked.get("from") ?? NaN), Number(asked.get("to") ?? NaN)];
  return Number.isFinite(from) && to > from ? [from, to] : null;
}
