import { useEffect, useRef, useState } from "preact/hooks";
import { useAsked } from "../address";
import type { Tip } from "../canvas/tooltip";
import { Choice, FlameDrawing, type Hovered } from "../flame/drawing";
import { nameOf } from "../flame/tree";
import { formatCount, formatDuration } from "../format";
import { Panel } from "../panel";
import { SaveButton, saveDrawing } from "../save";
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
  const [asked, ask] = useAsked("compare");
  const drawing = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let current = true;
    void source.blob("flame_change").then((bytes) => { if (current && bytes) setTrees(readChange(bytes)); });
    return () => { current = false; };
  }, [source]);
  const having = kWeights.filter(({ id }) => trees && trees[id].tree.total[id][0]! > 0);
  if (!trees || having.length === 0) return null;
  const shown = having.find(({ id }) => id === asked.get("weight"))?.id ?? having[0]!.id;
  return (
    <Panel title="Flame difference" note={`call paths of both sides, of a ${unit}; as wide as the larger of before and now`} span={12}>
      <div class="flame-change" ref={drawing}>
        <FlameDrawing
          key={shown} asked={[asked, ask]} tree={trees[shown].tree} weight={shown} order="heavy" colours={changePalette} mostHeight="60vh, 460px"
          label={`Flame difference of ${formatCount(trees[shown].tree.parent.length - 1)} call paths: ${timesOf(trees[shown], 0)}`}
          controls={
            <>
              {having.length > 1 && <Choice name="Weight" items={having} chosen={shown} choose={(id) => ask({ weight: id, node: null })} />}
              <SaveButton kind="PNG" what="flame difference" save={() => saveDrawing("flame difference", drawing.current!.querySelector("canvas")!)} />
            </>
          }
          aboutNode={(node) => timesOf(trees[shown], node)}
          tip={(at) => tipOf(trees[shown], at)}
        />
        <div class="legend">
          <span><i class="fill slower" />slower, or new</span><span><i class="fill faster" />faster, or gone</span>
          <span><i class="fill idle" />within 5 %</span><span>paler: less than 30 %</span>
        </div>
      </div>
    </Panel>
  );
}

function timesOf({ base, current }: ChangeTree, node: number): string {
  const before = base[node]!;
  const now = current[node]!;
  if (before === 0) return `new · ${formatDuration(now)} now`;
  if (now === 0) return `gone · ${formatDuration(before)} before`;
  return `${formatDuration(before)} before · ${formatDuration(now)} now · ${signedPercent((now / before - 1) * 100)}`;
}

function tipOf(change: ChangeTree, at: Hovered): Tip {
  const { node } = at;
  const lines = [timesOf(change, node), `${signedDuration(change.current[node]! - change.base[node]!)} with all below it`];
  return { x: at.x, y: at.y, title: nameOf(change.tree, node), lines };
}
