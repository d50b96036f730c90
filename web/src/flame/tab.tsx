import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { navigate } from "../canvas/navigation";
import { Tooltip, type Tip } from "../canvas/tooltip";
import { formatCount, formatDuration, formatPercent, formatPlural } from "../format";
import { Nothing } from "../panel";
import type { Source } from "../source";
import type { TabProps } from "../tab";
import { FlameScene } from "./scene";
import { findNodes, nameOf, pathTo, readTree, type Order, type Tree, type Weight } from "./tree";

const read = new WeakMap<Source, Promise<Tree | null>>();

function treeOf(source: Source): Promise<Tree | null> {
  let tree = read.get(source);
  if (!tree) {
    tree = source.blob("flame").then((bytes) => (bytes ? readTree(bytes) : null));
    read.set(source, tree);
  }
  return tree;
}

export function FlameTab({ source }: TabProps) {
  const [tree, setTree] = useState<Tree | null | undefined>(undefined);
  useEffect(() => {
    let current = true;
    void treeOf(source).then((found) => { if (current) setTree(found); });
    return () => { current = false; };
  }, [source]);
  if (tree === undefined) return <p class="nothing" aria-busy="true">Reading the flame graph…</p>;
  if (tree === null) return <Nothing>This page carries no flame graph: <code>fathom report TRACE -o report.html</code> makes one with everything.</Nothing>;
  if (tree.total.count[0] === 0) return <Nothing>No spans in this file, so there is nothing to draw.</Nothing>;
  return <Drawn tree={tree} />;
}

const kWeights: { id: Weight; title: string; hint: string }[] = [
  { id: "cpu", title: "CPU time", hint: "Wall time of the calls; waiting counts" },
  { id: "gpu", title: "GPU time", hint: "Time of the GPU work that the calls launched" },
  { id: "count", title: "Count", hint: "How many spans" },
];
const kOrders: { id: Order; title: string; hint: string }[] = [
  { id: "heavy", title: "Heaviest left", hint: "The heaviest of siblings first" },
  { id: "time", title: "Time order", hint: "Siblings in the order in which they were first seen" },
];

const amount = (value: number, weight: Weight): string =>
  weight === "count" ? formatPlural(value, "span", "spans") : formatDuration(value);

// Most want CPU time; a trace of GPU work alone has none.
const firstWeight = (tree: Tree): Weight =>
  tree.total[tree.weight][0]! > 0 ? tree.weight : kWeights.find(({ id }) => tree.total[id][0]! > 0)!.id;

function Drawn({ tree }: { tree: Tree }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const scene = useRef<FlameScene | null>(null);
  const [weight, setWeight] = useState<Weight>(firstWeight(tree));
  const [order, setOrder] = useState<Order>("heavy");
  const [zoomed, setZoomed] = useState(0);
  const [hovered, setHovered] = useState<{ node: number; x: number; y: number } | null>(null);
  const [query, setQuery] = useState("");
  const [height, setHeight] = useState(0);
  const matches = findNodes(tree, query, weight);

  useLayoutEffect(() => {
    const made = new FlameScene(tree, weight, order, canvas.current!, scroller.current!, {
      zoomed: setZoomed,
      hovered: (node, x, y) => setHovered(node < 0 ? null : { node, x, y }),
      laidOut: setHeight,
    });
    scene.current = made;
    const stop = navigate(canvas.current!, scroller.current!, made);
    return () => {
      stop();
      made.close();
    };
  }, [tree]);
  useLayoutEffect(() => {
    scene.current!.arrange(weight, order);
    scene.current!.zoomTo(tree.total[weight][zoomed]! > 0 ? zoomed : 0);
  }, [weight, order]);
  useLayoutEffect(() => {
    scene.current!.matches = matches?.nodes ?? null;
    scene.current!.redraw();
  }, [query, weight]);

  const whole = tree.total[weight][0]!;
  return (
    <section class="drawing">
      <div class="drawing-bar">
        <div class="finder" role="search">
          <input
            type="search" data-finder placeholder="Find calls" aria-label="Find calls" value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
          {matches && (
            <span class="quiet" role="status">
              {formatCount(matches.count)} {matches.count === 1 ? "match" : "matches"} · {formatPercent((matches.weight / Math.max(1, whole)) * 100)} of all
            </span>
          )}
        </div>
        <span class="grow" />
        <Choice name="Weight" items={kWeights.filter(({ id }) => tree.total[id][0]! > 0)} chosen={weight} choose={setWeight} />
        <Choice name="Order" items={kOrders} chosen={order} choose={setOrder} />
        <button class="tool" onClick={() => scene.current!.zoomTo(0)}>Reset</button>
      </div>
      <div class="crumbs" aria-label="Zoomed to">
        {pathTo(tree, zoomed).map((node) => (
          <button key={node} class="tool" title={nameOf(tree, node)} onClick={() => scene.current!.zoomTo(node)}>{nameOf(tree, node)}</button>
        ))}
        <span class="grow" />
        <span class="quiet">{amount(tree.total[weight][zoomed]!, weight)} · {formatPercent((tree.total[weight][zoomed]! / Math.max(1, whole)) * 100)}</span>
      </div>
      <div class="drawing-frame">
        <div class="drawing-area" ref={scroller}>
          <canvas ref={canvas} tabIndex={0} role="img" aria-label={`Flame graph of ${formatCount(tree.parent.length - 1)} call paths, ${amount(whole, weight)}`} />
          <div style={{ height: `max(0px, ${height}px - 100%)` }} />
        </div>
        {hovered && <Tooltip tip={tipOf(tree, hovered, weight)} />}
      </div>
      <p class="drawing-help quiet for-fingers">Tap zooms to a call, pinch zooms, drag moves.</p>
      <p class="drawing-help quiet for-mice">Click zooms to a call, wheel zooms, drag moves, <kbd>W</kbd><kbd>A</kbd><kbd>S</kbd><kbd>D</kbd> and arrows move. GPU work stands under the call that launched it.</p>
    </section>
  );
}

function Choice<Id extends string>(props: {
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

function tipOf(tree: Tree, at: { node: number; x: number; y: number }, weight: Weight): Tip {
  const { node } = at;
  const total = tree.total[weight][node]!;
  const share = (of: number) => formatPercent((total / Math.max(1, tree.total[weight][of]!)) * 100);
  const lines = [`${amount(total, weight)} · ${share(0)} of all${node === 0 ? "" : ` · ${share(tree.parent[node]!)} of its caller`}`];
  if (tree.calls[node]! > 0) lines.push(`${formatPlural(tree.calls[node]!, "call", "calls")} · own ${amount(tree.self[weight][node]!, weight)} · ${tree.kind[node]!.replace("_", " ")}`);
  if (weight !== "gpu" && tree.total.gpu[node]! > 0) lines.push(`GPU ${formatDuration(tree.total.gpu[node]!)}`);
  if (weight !== "cpu" && tree.total.cpu[node]! > 0) lines.push(`CPU ${formatDuration(tree.total.cpu[node]!)}`);
  return { x: at.x, y: at.y, title: nameOf(tree, node), lines };
}
