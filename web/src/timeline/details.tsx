import { useEffect, useState } from "preact/hooks";
import { formatCount, formatDuration, formatPercent, tickText } from "../format";
import type { Source } from "../source";
import { kindWords } from "../summary";
import { launchesOf, linksOf, type Link } from "./arrows";
import type { Timeline, Track } from "./decode";

// All that is known of the selected span, and the way to what it is linked with.
export function Details(props: {
  source: Source;
  timeline: Timeline;
  span: number;
  track: Track;
  className: string | undefined; // of GPU work
  show: (span: number) => void;
  close: () => void;
}) {
  const { timeline, span, track } = props;
  const { rows } = timeline;
  const label = rows.label[span]!;
  const launches = launchesOf(timeline, span);
  const links = linksOf(timeline, span);
  const share = (rows.length[span]! / Math.max(1, timeline.lengthNs)) * 100;
  const facts: [string, string][] = [
    ["duration", formatDuration(rows.length[span]!)],
    ["start", tickText(rows.start[span]!, 1e3)],
    ["share of the run", share >= 0.05 ? formatPercent(share) : "< 0.1 %"],
    ["kind", kindWords(timeline.kinds[label]!)],
    ...(props.className ? [["class", props.className] as [string, string]] : []),
    ["track", track.name],
  ];
  const delay = launches[0] && rows.start[launches[0].to]! - rows.end(launches[0].from);
  if (delay !== undefined) facts.push(["launch to start", delay > 0 ? formatDuration(delay) : "at once"]);
  return (
    <aside class="details" aria-label="Selected span">
      <button class="tool close" onClick={props.close} aria-label="Close">✕</button>
      <p class="fullname">{timeline.names[label]}</p>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}><dt>{name}</dt><dd>{value}</dd></div>
        ))}
      </dl>
      <Links timeline={timeline} words="launched by" others={sources(launches, span)} show={props.show} />
      <Links timeline={timeline} words="launched" others={targets(launches, span)} show={props.show} />
      <Links timeline={timeline} words="linked from" others={sources(links, span)} show={props.show} />
      <Links timeline={timeline} words="linked to" others={targets(links, span)} show={props.show} />
      <Arguments source={props.source} span={span} />
    </aside>
  );
}

const sources = (links: Link[], span: number): number[] => links.filter(({ to }) => to === span).map(({ from }) => from);
const targets = (links: Link[], span: number): number[] => links.filter(({ from }) => from === span).map(({ to }) => to);

function Links(props: { timeline: Timeline; words: string; others: number[]; show: (span: number) => void }) {
  const { timeline, words, others } = props;
  if (others.length === 0) return null;
  return (
    <div class="links">
      <h3>{others.length === 1 ? words : `${words} ${formatCount(others.length)}`}</h3>
      {others.slice(0, 8).map((other) => (
        <button key={other} class="tool" onClick={() => props.show(other)} title={timeline.names[timeline.rows.label[other]!]}>
          {timeline.names[timeline.rows.label[other]!]}
        </button>
      ))}
    </div>
  );
}

function Arguments(props: { source: Source; span: number }) {
  const [found, setFound] = useState<[string, string][] | null | undefined>(undefined);
  useEffect(() => {
    let current = true;
    setFound(undefined);
    void props.source.spanArgs(props.span).then((text) => { if (current) setFound(text === null ? null : entriesOf(text)); });
    return () => { current = false; };
  }, [props.source, props.span]);
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
