import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { navigate } from "../canvas/navigation";
import { Tooltip, type Tip } from "../canvas/tooltip";
import { FlameScene } from "../flame/scene";
import { findNodes, nameOf, pathTo } from "../flame/tree";
import { formatCount, formatDuration } from "../format";
import { Panel } from "../panel";
import type { Source } from "../source";
import { changePalette, readChange, type ChangeTree, type Weight } from "./flame_tree";
import { signedDuration, signedPercent } from "./words";

type Trees = Record<Weight, ChangeTree>;
const kWeights: { id: Weight; title: string; hint: string }[] = [
  { id: "cpu", title: "CPU time", hint: "Wall time of the calls; waiting counts" },
  { id: "gpu", title: "GPU time", hint: "Time of the GPU work that the calls launched" },
];

// The call paths of both sides in one flame graph. Nothing where the runs have none.
export function FlameChange({ source, unit }: { source: Source; unit: string }) {
  const [trees, setTrees] = useState<Trees | null>(null);
  const [weight, setWeight] = useState<Weight>("cpu");
  useEffect(() => {
    let current = true;
    void source.blob("flame_change").then((bytes) => { if (current && bytes) setTrees(readChange(bytes)); });
    return () => { current = false; };
  }, [source]);
  const having = kWeights.filter(({ id }) => trees && trees[id].tree.total[id][0]! > 0);
  if (!trees || having.length === 0) return null;
  const shown = having.find(({ id }) => id === weight)?.id ?? having[0]!.id;
  return (
    <Panel title="Flame difference" note={`call paths of both sides, of a ${unit}; as wide as the larger of before and now`} span={12}>
      <Drawn
        key={shown} weight={shown} change={trees[shown]}
        choice={having.length > 1 && (
          <span role="group" aria-label="Weight">
            {having.map(({ id, title, hint }) => (
              <button key={id} class="tool" title={hint} aria-pressed={id === shown} onClick={() => setWeight(id)}>{title}</button>
            ))}
          </span>
        )}
      />
    </Panel>
  );
}

function Drawn({ change, weight, choice }: { change: ChangeTree; weight: Weight; choice: preact.ComponentChildren }) {
  const { tree } = change;
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const scene = useRef<FlameScene | null>(null);
  const [zoomed, setZoomed] = useState(0);
  const [hovered, setHovered] = useState<{ node: number; x: number; y: number } | null>(null);
  const [query, setQuery] = useState("");
  const [height, setHeight] = useState(0);
  const matches = findNodes(tree, query, weight);

  useLayoutEffect(() => {
    const made = new FlameScene(tree, weight, "heavy", canvas.current!, scroller.current!, {
      zoomed: setZoomed,
      hovered: (node, x, y) => setHovered(node < 0 ? null : { node, x, y }),
      laidOut: setHeight,
    }, changePalette);
    scene.current = made;
    const stop = navigate(canvas.current!, scroller.current!, made);
    return () => {
      stop();
      made.close();
    };
  }, [tree]);
  useLayoutEffect(() => {
    scene.current!.matches = matches?.nodes ?? null;
    scene.current!.redraw();
  }, [query]);

  return (
    <div class="flame-change">
      <div class="drawing-bar">
        <div class="finder" role="search">
          <input type="search" placeholder="Find calls" aria-label="Find calls" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
          {matches && <span class="quiet" role="status">{formatCount(matches.count)} {matches.count === 1 ? "match" : "matches"}</span>}
        </div>
        <span class="grow" />
        {choice}
        <button class="tool" onClick={() => scene.current!.zoomTo(0)}>Reset</button>
      </div>
      <div class="crumbs" aria-label="Zoomed to">
        {pathTo(tree, zoomed).map((node) => (
          <button key={node} class="tool" title={nameOf(tree, node)} onClick={() => scene.current!.zoomTo(node)}>{nameOf(tree, node)}</button>
        ))}
        <span class="grow" />
        <span class="quiet">{timesOf(change, zoomed)}</span>
      </div>
      <div class="drawing-frame" style={{ height: `min(${height}px, 60vh, 460px)` }}>
        <div class="drawing-area" ref={scroller}>
          <canvas ref={canvas} tabIndex={0} role="img" aria-label={`Flame difference of ${formatCount(tree.parent.length - 1)} call paths: ${timesOf(change, 0)}`} />
          <div style={{ height: `max(0px, ${height}px - 100%)` }} />
        </div>
        {hovered && <Tooltip tip={tipOf(change, hovered)} />}
      </div>
      <div class="legend">
        <span><i class="fill slower" />slower, or new</span><span><i class="fill faster" />faster, or gone</span>
        <span><i class="fill idle" />within 5 %</span><span>paler: less than 30 %</span>
      </div>
    </div>
  );
}

function timesOf({ base, current }: ChangeTree, node: number): string {
  const before = base[node]!;
  const now = current[node]!;
  if (before === 0) return `new · ${formatDuration(now)} now`;
  if (now === 0) return `gone · ${formatDuration(before)} before`;
  return `${formatDuration(before)} before · ${formatDuration(now)} now · ${signedPercent((now / before - 1) * 100)}`;
}

function tipOf(change: ChangeTree, at: { node: number; x: number; y: number }): Tip {
  const { node } = at;
  const lines = [timesOf(change, node), `${signedDuration(change.current[node]! - change.base[node]!)} with all below it`];
  return { x: at.x, y: at.y, title: nameOf(change.tree, node), lines };
}
