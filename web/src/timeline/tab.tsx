import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { navigate } from "../canvas/navigation";
import { Tooltip, type Tip } from "../canvas/tooltip";
import { fitted } from "../canvas/view";
import { kFills, type Fill } from "../classes";
import { Choice } from "../flame/drawing";
import { formatCount, formatDuration, formatPercent } from "../format";
import { Legend, Nothing } from "../panel";
import type { Source } from "../source";
import { fillIn, type Summary } from "../summary";
import type { TabProps } from "../tab";
import { addressOf, isTimeline, rankIn, seenIn, type Seen } from "./address";
import type { Timeline } from "./decode";
import { Details } from "./details";
import { Finder } from "./finder";
import { hasPath, pathsOf, timelineOf } from "./load";
import { rankNotes } from "./notes";
import type { CriticalPath } from "./path";
import { tracksOfRank } from "./rank";
import { TimelineScene } from "./scene";
import { Selection } from "./selection";
import type { Range } from "./sums";
import "./timeline.css";
import { prepareTotals } from "./totals";
import { TrackMenu } from "./track_menu";

const kColours: { id: "part" | "class"; title: string; hint: string }[] = [
  { id: "part", title: "By part", hint: "Colours say what the time is spent on: GPU work, communication, copies, the host" },
  { id: "class", title: "By class", hint: "Colours of GPU work say its class: GEMM, attention, elementwise, …" },
];

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
  return <Drawn source={source} timeline={timeline} summary={summary} />;
}

// What was seen last, so that coming back to the tab shows it again.
const lastSeen = new WeakMap<Timeline, string>();

function Drawn({ source, timeline, summary }: { source: Source; timeline: Timeline; summary: Summary }) {
  const { classes } = summary;
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const spacer = useRef<HTMLDivElement>(null);
  const [scene, setScene] = useState<TimelineScene | null>(null);
  const [selected, setSelected] = useState(-1);
  const [range, setRange] = useState<Range | null>(null);
  const [tip, setTip] = useState<Tip | null>(null);
  const [seen, setSeen] = useState(timeline.lengthNs);
  const [colours, setColours] = useState<"part" | "class">("part");
  const [paths, setPaths] = useState<CriticalPath[]>([]);
  const [asked, setAsked] = useState<{ name: string } | null>(null);
  const [said, setSaid] = useState("");
  const [, setArranged] = useState(0);

  // Before the first paint: who can type into the finder finds a scene to search.
  useLayoutEffect(() => {
    const address = new Address(timeline);
    let isMade = false; // it arranges itself while it is made
    const made: TimelineScene = new TimelineScene(timeline, { canvas: canvas.current!, scroller: scroller.current!, spacer: spacer.current! }, {
      selected: (span) => { setSelected(span); address.rest(made); },
      ranged: setRange,
      hovered: setTip,
      moved: (view) => {
        setTip(null);
        setSeen(view.end - view.begin);
        address.rest(made);
      },
      rearranged: () => { setArranged((times) => times + 1); if (isMade) address.rest(made); },
      said: setSaid,
    });
    isMade = true;
    const go = (to: Seen) => {
      if (to.view) made.view = fitted(made.view, to.view[0], to.view[1], made.limits);
      made.setRange(to.range);
      if (to.span !== null && to.span < timeline.rows.size) to.view ? made.pick(to.span) : made.show(to.span, true);
      if (to.path) void showPath(made, true);
      if (to.byClass) colourBy("class", made);
      if (to.pinned) made.pinOnly(to.pinned);
      made.changed();
    };
    const follow = (hash: string) => {
      const [asks, rank] = [seenIn(hash), rankIn(hash)];
      go(rank && asks.range ? { ...asks, range: { ...asks.range, tracks: tracksOfRank(timeline, rank) } } : asks);
    };
    setScene(made);
    follow(address.first());
    const changed = () => { if (isTimeline(location.hash)) follow(location.hash); };
    addEventListener("hashchange", changed);
    const stop = navigate(canvas.current!, scroller.current!, made);
    const stopPreparing = prepareTotals(timeline);
    return () => {
      removeEventListener("hashchange", changed);
      address.stop();
      stop();
      stopPreparing();
      made.close();
    };
  }, [timeline]);

  const showPath = async (on: TimelineScene, isShown: boolean) => {
    const found = isShown ? await pathsOf(source, timeline) : [];
    setPaths(found);
    on.showPaths(found);
    on.changed();
  };
  const colourBy = (id: "part" | "class", on: TimelineScene) => {
    setColours(id);
    on.colourByClass(id === "class");
  };
  const everything = () => {
    scene!.view = fitted(scene!.view, 0, timeline.lengthNs, scene!.limits);
    scene!.changed();
  };
  const isPathShown = paths.length > 0;
  return (
    <section class="drawing timeline">
      <div class="drawing-bar">
        <Finder timeline={timeline} classes={classes} scene={() => scene!} selected={selected} asked={asked} />
        <span class="grow" />
        {hasPath(source, timeline) && (
          <button class="tool" aria-pressed={isPathShown} onClick={() => void showPath(scene!, !isPathShown)} title="What bounds the run at each instant">
            Critical path
          </button>
        )}
        {scene && <TrackMenu timeline={timeline} scene={scene} />}
        {classes.length > 0 && (
          <Choice
            name="Colours of GPU work" items={kColours} chosen={colours}
            choose={(id) => colourBy(id, scene!)}
          />
        )}
        <button class="tool" onClick={() => scene!.keys["r"]!()} title="Sum up what ran in what is seen: R">Sum up the view</button>
        <button class="tool" onClick={everything}>Show all</button>
        <span class="quiet">{formatDuration(seen)} of {formatDuration(timeline.lengthNs)} · {formatCount(timeline.rows.size)} spans</span>
      </div>
      {isPathShown && <PathLegend paths={paths} />}
      {colours === "class" && (
        <div class="drawing-legend">
          <Legend items={classes.map((row) => ({ label: row.label, part: fillIn(summary, row.class), value: formatPercent(row.share_pct) }))} />
        </div>
      )}
      {rankNotes(timeline).map((note) => <p key={note} class="drawing-note quiet">{note}</p>)}
      <div class="drawing-frame">
        <div class="drawing-area" ref={scroller}>
          <canvas
            ref={canvas} tabIndex={0} role="img"
            aria-label={`Timeline of ${formatCount(timeline.rows.size)} spans on ${timeline.tracks.length} tracks, ${formatDuration(timeline.lengthNs)}`}
          />
          <div ref={spacer} />
        </div>
        {tip && <Tooltip tip={tip} />}
        <span class="unseen" aria-live="polite">{said}</span>
      </div>
      {(selected >= 0 || range) && (
        <div class="drawing-panels">
          {selected >= 0 && (
            <Details
              source={source} timeline={timeline} span={selected}
              className={classes.find((row) => row.class === timeline.classes[timeline.rows.label[selected]!])?.label}
              show={(span) => scene!.show(span)} mark={() => scene!.keys["m"]!()} close={() => scene!.select(-1)}
            />
          )}
          {range && (
            <Selection
              timeline={timeline} range={range} classes={classes} find={(name) => setAsked({ name })}
              fit={() => scene!.fit()} close={() => scene!.setRange(null)}
            />
          )}
        </div>
      )}
      <p class="drawing-help quiet for-fingers">Pinch zooms, drag moves, drag on the ruler selects a range, tap shows details, double tap fits.</p>
      <p class="drawing-help quiet for-mice">
        Wheel zooms, drag moves, <kbd>W</kbd><kbd>A</kbd><kbd>S</kbd><kbd>D</kbd> too. Drag on the ruler selects a range, <kbd>shift</kbd>-drag an area
        (<kbd>R</kbd> what is seen, <kbd>M</kbd> the span's time). Click shows details, or <kbd>Enter</kbd>; arrows walk, <kbd>F</kbd> fits, <kbd>Esc</kbd> clears. <kbd>?</kbd> has all keys.
      </p>
    </section>
  );
}

function PathLegend({ paths }: { paths: CriticalPath[] }) {
  const items = paths[0]!.bounds.filter(({ ns }) => ns > 0).map(({ label, part, ns }) => ({
    label, part: kFills.find((fill): fill is Fill => fill === part) ?? "idle" as Fill, ...(paths.length === 1 ? { value: formatDuration(ns) } : {}),
  }));
  const least = Math.max(...paths.map(({ leastNs }) => leastNs));
  return (
    <div class="drawing-legend" role="group" aria-label="Critical path">
      <Legend items={items} />
      {least > 0 && <p class="quiet">Pieces shorter than {formatDuration(least)} are drawn as the longest of those around them; the times are exact.</p>}
    </div>
  );
}

// The address follows what is seen, when that rests.
class Address {
  private pending = 0;
  constructor(private readonly timeline: Timeline) {}

  // Where to begin: what the address asks for, else what was seen last.
  first(): string {
    return location.hash.includes("?") ? location.hash : lastSeen.get(this.timeline) ?? location.hash;
  }
  // What is seen is remembered at once, for whoever leaves the tab and comes back; the address waits until it rests.
  rest(scene: TimelineScene): void {
    const { view, selected, range, shown } = scene;
    const address = addressOf({
      view: [view.begin, view.end], span: selected < 0 ? null : selected, range, path: shown.paths.length > 0, byClass: scene.byClass, pinned: scene.pinnedPlaces(),
    });
    lastSeen.set(this.timeline, address);
    clearTimeout(this.pending);
    this.pending = window.setTimeout(() => {
      if (isTimeline(location.hash)) history.replaceState(null, "", address);
    }, 250);
  }
  stop(): void {
    clearTimeout(this.pending);
  }
}
