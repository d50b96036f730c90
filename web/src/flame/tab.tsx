import { useEffect, useMemo, useState } from "preact/hooks";
import { useAsked } from "../address";
import type { Tip } from "../canvas/tooltip";
import { formatCount, formatDuration, formatPercent, formatPlural } from "../format";
import { Nothing } from "../panel";
import type { Source } from "../source";
import { kindWords } from "../summary";
import type { TabProps } from "../tab";
import { Choice, FlameDrawing, type Hovered } from "./drawing";
import "./flame.css";
import { Sandwich } from "./sandwich";
import { nameOf, readTree, type Order, type Tree, type Weight } from "./tree";
import { bottomUp, idleThreads, without } from "./views";

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

type View = "down" | "up" | "sandwich";
const kViews: { id: View; title: string; hint: string }[] = [
  { id: "down", title: "Top-down", hint: "Threads on top, below each call what it called" },
  { id: "up", title: "Bottom-up", hint: "Each function by its own time, below it who called it" },
  { id: "sandwich", title: "Sandwich", hint: "One function: who called it, and what it called" },
];

export const amount = (value: number, weight: Weight): string =>
  weight === "count" ? formatPlural(value, "span", "spans") : formatDuration(value);

// Most want CPU time; a trace of GPU work alone has none.
const firstWeight = (tree: Tree): Weight =>
  tree.total[tree.weight][0]! > 0 ? tree.weight : kWeights.find(({ id }) => tree.total[id][0]! > 0)!.id;

function Drawn({ tree: whole }: { tree: Tree }) {
  const idle = useMemo(() => idleThreads(whole), [whole]);
  // Where all threads waited, that is what there is to see.
  const canFold = idle.length > 0 && idle.length < whole.depth.filter((depth) => depth === 1).length;
  // What is seen is in the address: #flame?view=up&weight=gpu&node=12.
  const [asked, ask] = useAsked("flame");
  const isFolded = asked.get("idle") !== "1";
  const threads = useMemo(() => (canFold && isFolded ? without(whole, idle) : whole), [whole, canFold, isFolded]);
  const view = kViews.find(({ id }) => id === asked.get("view"))?.id ?? "down";
  const tree = useMemo(() => (view === "up" ? bottomUp(threads) : threads), [threads, view]);
  const having = kWeights.filter(({ id }) => threads.total[id][0]! > 0);
  const weight = having.find(({ id }) => id === asked.get("weight"))?.id ?? firstWeight(threads);
  const order = kOrders.find(({ id }) => id === asked.get("order"))?.id ?? "heavy";
  const all = tree.total[weight][0]!;
  const shareOf = (value: number) => formatPercent((value / Math.max(1, all)) * 100);
  const controls = (
    <>
      <Choice name="View" items={kViews} chosen={view} choose={(id) => ask({ view: id === "down" ? null : id, node: null })} />
      <Choice name="Weight" items={having} chosen={weight} choose={(id) => ask({ weight: id })} />
      {view === "down" && <Choice name="Order" items={kOrders} chosen={order} choose={(id) => ask({ order: id })} />}
      {canFold && (
        <button class="tool" title="Threads that did nothing but wait" aria-pressed={!isFolded} onClick={() => ask({ idle: isFolded ? "1" : null, node: null })}>
          {formatPlural(idle.length, "idle thread", "idle threads")}
        </button>
      )}
    </>
  );
  if (view === "sandwich") return <section class="drawing sandwich"><Sandwich tree={threads} weight={weight} controls={controls} tip={tipOf} asked={[asked, ask]} /></section>;
  return (
    <section class="drawing">
      <FlameDrawing
        key={`${view} ${isFolded}`} isMain asked={[asked, ask]} tree={tree} weight={weight} order={order}
        label={`Flame graph of ${formatCount(tree.parent.length - 1)} call paths, ${view === "up" ? "bottom-up, " : ""}${amount(all, weight)}`}
        controls={controls}
        aboutMatches={(found) => ` · ${shareOf(found)} of all`}
        aboutNode={(node) => `${amount(tree.total[weight][node]!, weight)} · ${shareOf(tree.total[weight][node]!)}`}
        tip={(at) => tipOf(tree, at, weight)}
      />
      <p class="drawing-help quiet for-fingers">Tap zooms to a call, pinch zooms, drag moves.</p>
      <p class="drawing-help quiet for-mice">Click zooms to a call, wheel zooms, drag moves, <kbd>W</kbd><kbd>A</kbd><kbd>S</kbd><kbd>D</kbd> too; arrows walk from call to call, <kbd>Enter</kbd> zooms, <kbd>Esc</kbd> goes back. {view === "up" ? "Each function by its own time; below it, who called it." : "GPU work stands under the call that launched it."}</p>
    </section>
  );
}

function tipOf(tree: Tree, at: Hovered, weight: Weight): Tip {
  const { node } = at;
  const total = tree.total[weight][node]!;
  const share = (of: number) => formatPercent((total / Math.max(1, tree.total[weight][of]!)) * 100);
  const lines = [`${amount(total, weight)} · ${share(0)} of all${node === 0 ? "" : ` · ${share(tree.parent[node]!)} of its caller`}`];
  if (tree.calls[node]! > 0) lines.push(`${formatPlural(tree.calls[node]!, "call", "calls")} · own ${amount(tree.self[weight][node]!, weight)} · ${kindWords(tree.kind[node]!)}`);
  if (weight !== "gpu" && tree.total.gpu[node]! > 0) lines.push(`GPU ${formatDuration(tree.total.gpu[node]!)}`);
  if (weight !== "cpu" && tree.total.cpu[node]! > 0) lines.push(`CPU ${formatDuration(tree.total.cpu[node]!)}`);
  return { x: at.x, y: at.y, title: nameOf(tree, node), lines };
}
