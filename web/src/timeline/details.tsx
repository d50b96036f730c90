import { useEffect, useMemo, useState } from "preact/hooks";
import { kFills } from "../classes";
import { formatCount, formatDuration, formatPercent, tickText } from "../format";
import type { Source } from "../source";
import { isGpuWork, kindWords } from "../summary";
import { linksOf } from "./arrows";
import { levelText } from "./counter";
import type { Timeline } from "./decode";
import { levelAt } from "./levels";
import { argsOf } from "./load";
import { namesIn } from "./names";
import { launchedWithin, spansAround, trackOf } from "./stack";

const kMostCounters = 6; // more are those of other ranks

interface Props {
  source: Source;
  timeline: Timeline;
  span: number;
  className: string | undefined; // of GPU work
  show: (span: number) => void;
  mark: () => void; // selects its time
  close: () => void;
}

// All that is known of the selected span, and the way to what it is linked with: from GPU work to the call that launched it
// and the functions around that, and from any of those to the GPU work that came of it.
export function Details(props: Props) {
  const { timeline, span, show } = props;
  const { rows } = timeline;
  const label = rows.label[span]!;
  const links = linksOf(timeline, span);
  const launch = timeline.launch[span]!;
  const isWork = isGpuWork(timeline.kinds[label]!);
  const work = useMemo(() => (isWork ? [] : launchedWithin(timeline, span)), [timeline, span]);
  const share = (rows.length[span]! / Math.max(1, timeline.lengthNs)) * 100;
  const delay = launch >= 0 ? rows.start[span]! - rows.end(launch) : null;
  const levels = timeline.counters.length > kMostCounters ? [] : timeline.counters.flatMap((counter): [string, string][] => {
    const level = levelAt(counter, { begin: rows.start[span]!, end: rows.start[span]! + 1, width: 1 }, 0);
    return level ? [[counter.name, levelText(counter, level.mean)]] : [];
  });
  const facts: [string, string][] = [
    ["duration", formatDuration(rows.length[span]!)],
    ["start", tickText(rows.start[span]!, 1e3)],
    ["share of the run", share >= 0.05 ? formatPercent(share) : "< 0.1 %"],
    ["kind", kindWords(timeline.kinds[label]!)],
    ...(props.className ? [["class", props.className] as [string, string]] : []),
    ["track", trackOf(timeline, span).name],
    ...(delay !== null ? [["launch to start", delay > 0 ? formatDuration(delay) : "at once"] as [string, string]] : []),
    ...(work.length > 0 ? [["GPU work launched", formatDuration(work.reduce((sum, each) => sum + rows.length[each]!, 0))] as [string, string]] : []),
    ...levels, // when it began
  ];
  return (
    <aside class="details" aria-label="Selected span">
      <div class="details-tools">
        <button class="tool" onClick={props.mark} title="Sum up what ran in its time: M">Sum up its time</button>
        <button class="tool" onClick={props.close} aria-label="Close">✕</button>
      </div>
      <p class="fullname">{timeline.names[label]}</p>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}><dt>{name}</dt><dd title={value}>{value}</dd></div>
        ))}
      </dl>
      <Links timeline={timeline} words="launched by" others={launch >= 0 ? [launch] : []} show={show} />
      <Stack key={span} timeline={timeline} of={isWork ? launch : span} show={show} />
      <Links key={`work of ${span}`} timeline={timeline} words="launched" others={work} show={show} />
      <Links timeline={timeline} words="linked from" others={links.filter(({ to }) => to === span).map(({ from }) => from)} show={show} />
      <Links timeline={timeline} words="linked to" others={links.filter(({ from }) => from === span).map(({ to }) => to)} show={show} />
      <Arguments key={span} source={props.source} timeline={timeline} span={span} />
    </aside>
  );
}

function SpanButton({ timeline, span, show }: { timeline: Timeline; span: number; show: (span: number) => void }) {
  const label = timeline.rows.label[span]!;
  const name = timeline.names[label]!;
  return (
    <button class="tool" onClick={() => show(span)} title={`${name} · ${formatDuration(timeline.rows.length[span]!)}`}>
      <i class={`fill ${kFills[timeline.fills[label]!]!}`} />
      {namesIn(timeline)(label)}
    </button>
  );
}

const kShown = 12;
const kMore = 100; // at a time: there may be a hundred thousand

// The functions around a span of the host, innermost first.
function Stack({ timeline, of, show }: { timeline: Timeline; of: number; show: (span: number) => void }) {
  const [all, setAll] = useState(false);
  const around = useMemo(() => (of < 0 ? [] : spansAround(timeline, of)), [timeline, of]);
  if (around.length === 0) return null;
  const shown = all ? around : around.slice(0, kShown);
  return (
    <div class="links stack" role="group" aria-label="Called from">
      <h3>called from</h3>
      {shown.map((span) => <SpanButton key={span} timeline={timeline} span={span} show={show} />)}
      {shown.length < around.length && <button class="tool" onClick={() => setAll(true)}>{formatCount(around.length - shown.length)} more</button>}
    </div>
  );
}

function Links(props: { timeline: Timeline; words: string; others: number[]; show: (span: number) => void }) {
  const { timeline, words, others } = props;
  const [count, setCount] = useState(kShown);
  if (others.length === 0) return null;
  return (
    <div class="links" role="group" aria-label={words}>
      <h3>{others.length === 1 ? words : `${words} ${formatCount(others.length)}`}</h3>
      {others.slice(0, count).map((other) => <SpanButton key={other} timeline={timeline} span={other} show={props.show} />)}
      {others.length > count && <button class="tool" onClick={() => setCount(count + kMore)}>{formatCount(others.length - count)} more</button>}
    </div>
  );
}

function Arguments({ source, timeline, span }: { source: Source; timeline: Timeline; span: number }) {
  const [found, setFound] = useState<[string, string][] | null | undefined>(undefined);
  useEffect(() => {
    let current = true;
    void argsOf(source, timeline, span).then((text) => { if (current) setFound(text === null ? null : entriesOf(text)); });
    return () => { current = false; };
  }, [source, timeline, span]);
  if (found === undefined) return null;
  if (found === null) {
    return <p class="quiet">No arguments here: the page carries those of the steps and the longest spans; the trace has all.</p>;
  }
  return (
    <dl class="arguments">
      {found.map(([name, value]) => (
        <div key={name}><dt>{name}</dt><dd>{value}</dd></div>
      ))}
    </dl>
  );
}

// Arguments that are no JSON (some tracers write NaN) are shown as they are.
function entriesOf(text: string): [string, string][] {
  try {
    const parsed = JSON.parse(text) as Record<string, unknown>;
    return Object.entries(parsed).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
  } catch {
    return [["arguments", text]];
  }
}
