import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { useAsked } from "../address";
import { navigate } from "../canvas/navigation";
import type { Palette } from "../canvas/palette";
import { Tooltip, type Tip } from "../canvas/tooltip";
import { formatCount } from "../format";
import { FlameScene } from "./scene";
import { findNodes, nameOf, pathTo, shownName, type Order, type Tree, type Weight } from "./tree";
import { leadingTo, pruned } from "./views";

export interface Hovered {
  node: number;
  x: number;
  y: number;
}

export type Asked = ReturnType<typeof useAsked>;

interface DrawingProps {
  tree: Tree;
  weight: Weight;
  order: Order;
  colours?: () => Palette;
  label: string; // for those who hear the page
  isMain?: boolean; // the page's "find" key goes to its search, and the keys of the window to its canvas
  // What the address asks for, "node" and "find", and a way to have it follow.
  asked?: Asked;
  hasSearch?: boolean; // true where it is not said
  mostHeight?: string; // as high as it needs to be, up to this; else as high as there is room
  controls: preact.ComponentChildren;
  aboutMatches?: (weight: number) => string;
  aboutNode: (node: number) => string;
  tip: (at: Hovered) => Tip;
}

// A flame graph on a canvas, with what is around it: search, the path that is zoomed to, the tip.
export function FlameDrawing(props: DrawingProps) {
  const { tree, weight, order } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const scene = useRef<FlameScene | null>(null);
  const [asked, ask] = props.asked ?? [null, () => {}];
  const askedNode = nodeIn(tree, asked?.get("node") ?? null);
  const [zoomed, setZoomed] = useState(askedNode);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const [query, setQuery] = useState(asked?.get("find") ?? "");
  const [rank, setRank] = useState(0); // of the match that is zoomed to, from 1
  const [said, setSaid] = useState("");
  const [height, setHeight] = useState(0);
  const [onlyMatches, setOnlyMatches] = useState(false);
  const path = useRef<HTMLDivElement>(null);
  const matches = useMemo(() => findNodes(tree, query, weight), [tree, query, weight]);
  // Only the paths to what was found, as wide as that; without a match there would be nothing to see.
  const isPruned = onlyMatches && matches !== null && matches.count > 0;
  const shown = useMemo(() => (isPruned ? pruned(tree, matches.nodes) : tree), [tree, isPruned, isPruned && matches]);

  useLayoutEffect(() => {
    const made = new FlameScene(shown, weight, order, canvas.current!, scroller.current!, {
      zoomed: (node) => {
        setZoomed(node);
        follow.current({ node: node === 0 ? null : String(node) });
      },
      chosen: (node) => setSaid(wordsOf(props.tip({ node, x: 0, y: 0 }))),
      hovered: (node, x, y) => setHovered(node < 0 ? null : { node, x, y }),
      laidOut: setHeight,
    }, props.isMain ?? false, props.colours);
    scene.current = made;
    made.zoomTo(shown.total[weight][zoomed]! > 0 ? zoomed : 0);
    const stop = navigate(canvas.current!, scroller.current!, made);
    return () => {
      stop();
      made.close();
    };
  }, [shown]);
  useLayoutEffect(() => {
    scene.current!.arrange(weight, order);
    scene.current!.zoomTo(shown.total[weight][zoomed]! > 0 ? zoomed : 0);
  }, [weight, order]);
  useLayoutEffect(() => {
    scene.current!.matches = matches && leadingTo(tree, matches.nodes);
    scene.current!.redraw();
  }, [shown, matches]);
  const follow = useRef(ask);
  follow.current = (changes) => {
    if (Object.entries(changes).some(([field, value]) => value !== (asked?.get(field) ?? null))) ask(changes);
  };
  useEffect(() => { if (askedNode !== zoomed && asked) scene.current!.zoomTo(askedNode); }, [askedNode]); // a link to another call
  const search = (text: string) => {
    setQuery(text);
    setRank(0);
    follow.current({ find: text || null });
  };
  const next = (by: number) => {
    const found = matches ? inOrder(matches.nodes, (node) => scene.current!.placeOf(node)) : [];
    if (found.length === 0) return;
    const at = rank === 0 && by < 0 ? found.length : ((rank - 1 + by + found.length) % found.length) + 1;
    setRank(at);
    scene.current!.zoomTo(found[at - 1]!);
  };
  // The call itself is what matters of a path that is longer than there is room.
  useLayoutEffect(() => path.current?.scrollTo({ left: path.current.scrollWidth }), [zoomed]);

  return (
    <>
      <div class="drawing-bar">
        {props.hasSearch !== false && <div class="finder" role="search">
          <input
            type="search" data-finder={props.isMain} placeholder="Find calls" aria-label="Find calls" value={query}
            onInput={(event) => search(event.currentTarget.value)}
            onKeyDown={(event) => { if (event.key === "Enter") next(event.shiftKey ? -1 : 1); }}
          />
          {matches && (
            <span class="quiet" role="status">
              {rank > 0 && `${formatCount(rank)} of `}{formatCount(matches.count)} {matches.count === 1 ? "match" : "matches"}{props.aboutMatches?.(matches.weight)}
            </span>
          )}
          {matches && matches.count > 1 && <button class="tool" onClick={() => next(-1)} aria-label="Previous match">↑</button>}
          {matches && matches.count > 0 && <button class="tool" onClick={() => next(1)} aria-label="Next match">↓</button>}
          {matches && (
            <button class="tool" title="Only the paths to what was found" aria-pressed={onlyMatches} onClick={() => setOnlyMatches(!onlyMatches)}>Only matches</button>
          )}
        </div>}
        <span class="grow" />
        {props.controls}
        <button class="tool" onClick={() => scene.current!.zoomTo(0)}>Reset</button>
      </div>
      <div class="crumbs">
        <div class="path" ref={path} role="group" aria-label="Zoomed to">
          {pathTo(tree, zoomed).map((node) => (
            <button key={node} class="tool" title={nameOf(tree, node)} onClick={() => scene.current!.zoomTo(node)}>{shownName(tree, node)}</button>
          ))}
        </div>
        <span class="quiet">{props.aboutNode(zoomed)}</span>
      </div>
      <div class="drawing-frame" style={props.mostHeight && { height: `min(${height}px, ${props.mostHeight})` }}>
        <div class="drawing-area" ref={scroller}>
          <canvas ref={canvas} tabIndex={0} role="img" aria-label={props.label} />
          <div style={{ height: `max(0px, ${height}px - 100%)` }} />
        </div>
        {hovered && <Tooltip tip={props.tip(hovered)} />}
        <span class="unseen" aria-live="polite">{said}</span>
      </div>
    </>
  );
}

const wordsOf = ({ title, lines }: Tip): string => [title, ...lines].join(", ");

// A node as the address names it; the whole, where there is none such.
function nodeIn(tree: Tree, text: string | null): number {
  const node = text !== null && /^\d+$/.test(text) ? Number(text) : 0;
  return node < tree.parent.length ? node : 0;
}

// Matches from left to right, callers first; those that have a place.
const inOrder = (nodes: Uint8Array, placeOf: (node: number) => number): number[] =>
  Array.from(nodes.keys()).filter((node) => nodes[node] && placeOf(node) >= 0).sort((a, b) => placeOf(a) - placeOf(b));

// Buttons of which one is pressed.
export function Choice<Id extends string>(props: {
  name: string; items: { id: Id; title: string; hint: string }[]; chosen: Id; choose: (id: Id) => void;
}) {
  return (
    <span role="group" aria-label={props.name}>
      {props.items.map((item) => (
        <button key={item.id} class="tool" title={item.hint} aria-pressed={item.id === props.chosen} onClick={() => props.choose(item.id)}>{item.title}</button>
      ))}
    </span>
  );
}
