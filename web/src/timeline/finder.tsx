import { useEffect, useRef, useState } from "preact/hooks";
import { ClassFilter } from "../class_filter";
import { formatCount } from "../format";
import type { ClassTime } from "../summary";
import type { Timeline } from "./decode";
import { findSpans, neighbour } from "./find";
import type { TimelineScene } from "./scene";

// Searches names, and goes from one match to the next. `asked` is what something else on the page wants to be searched for.
export function Finder(props: { timeline: Timeline; classes: ClassTime[]; scene: () => TimelineScene; selected: number; asked: { name: string } | null }) {
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
  useEffect(() => { if (props.asked) search(props.asked.name, ""); }, [props.asked]);
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
