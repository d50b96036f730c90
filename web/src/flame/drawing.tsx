import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { navigate } from "../canvas/navigation";
import type { Palette } from "../canvas/palette";
import { Tooltip, type Tip } from "../canvas/tooltip";
import { formatCount } from "../format";
import { FlameScene } from "./scene";
import { findNodes, nameOf, pathTo, type Order, type Tree, type Weight } from "./tree";
import { leadingTo, pruned } from "./views";

export interface Hovered {
  node: number;
  x: number;
  y: number;
}

interface DrawingProps {
  tree: Tree;
  weight: Weight;
  order: Order;
  colours?: () => Palette;
  label: string; // for those who hear the page
  isMain?: boolean; // the page's "find" key goes to its search
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
  const [zoomed, setZoomed] = useState(0);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const [query, setQuery] = useState("");
  const [height, setHeight] = useState(0);
  const [onlyMatches, setOnlyMatches] = useState(false);
  const path = useRef<HTMLDivElement>(null);
  const matches = useMemo(() => findNodes(tree, query, weight), [tree, query, weight]);
  // Only the paths to what was found, as wide as that; without a match there would be nothing to see.
  const isPruned = onlyMatches && matches !== null && matches.count > 0;
  const shown = useMemo(() => (isPruned ? pruned(tree, matches.nodes) : tree), [tree, isPruned, isPruned && matches]);

  useLayoutEffect(() => {
    const made = new FlameScene(shown, weight, order, canvas.current!, scroller.current!, {
      zoomed: setZoomed,
      hovered: (node, x, y) => setHovered(node < 0 ? null : { node, x, y }),
      laidOut: setHeight,
    }, props.colours);
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
  // The call itself is what matters of a path that is longer than there is room.
  useLayoutEffect(() => path.current?.scrollTo({ left: path.current.scrollWidth }), [zoomed]);

  return (
    <>
      <div class="drawing-bar">
        {props.hasSearch !== false && <div class="finder" role="search">
          <input
            type="search" data-finder={props.isMain} placeholder="Find calls" aria-label="Find calls" value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
          {matches && (
            <span class="quiet" role="status">
              {formatCount(matches.count)} {matches.count === 1 ? "match" : "matches"}{props.aboutMatches?.(matches.weight)}
            </span>
          )}
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
            <button key={node} class="tool" title={nameOf(tree, node)} onClick={() => scene.current!.zoomTo(node)}>{nameOf(tree, node)}</button>
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
      </div>
    </>
  );
}

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
