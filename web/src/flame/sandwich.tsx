import { useMemo } from "preact/hooks";
import type { Tip } from "../canvas/tooltip";
import { formatCount, formatDuration, formatPercent } from "../format";
import { DataTable, type Column } from "../table";
import { FlameDrawing, type Asked, type Hovered } from "./drawing";
import { shownName, type Tree, type Weight } from "./tree";
import { functionsOf, sandwich, type Called } from "./views";

interface Props {
  tree: Tree;
  weight: Weight;
  controls: preact.ComponentChildren;
  tip: (tree: Tree, at: Hovered, weight: Weight) => Tip;
  asked: Asked;
}

// One function between those who call it and what it calls, wherever in the tree that is.
export function Sandwich(props: Props) {
  const { tree, weight, controls, tip } = props;
  const nameOf = (row: Called) => tree.names[row.name] || "(no name)";
  const functions = useMemo(() => functionsOf(tree), [tree]);
  const rows = useMemo(() => functions.filter((row) => row.total[weight] > 0), [functions, weight]);
  const [asked, ask] = props.asked;
  const [named, kind] = [asked.get("function"), asked.get("kind")];
  const choose = (row: Called) => ask({ function: nameOf(row), kind: row.kind });
  // The one that takes the most itself says the most.
  const chosen = rows.find((row) => nameOf(row) === named && row.kind === kind) ?? rows.reduce((most, row) => (row.self[weight] > most.self[weight] ? row : most), rows[0]!);
  const halves = useMemo(() => chosen && sandwich(tree, chosen), [tree, chosen]);
  const shown = (row: Called) => shownName(tree, row.node);
  const text = (value: number) => (weight === "count" ? formatCount(value) : formatDuration(value));
  const unit = weight === "count" ? "spans" : "ns";
  const columns = useMemo((): Column<Called>[] => [
    { label: "function", value: nameOf, text: shown },
    { label: "own", value: (row) => row.self[weight], text: (row) => text(row.self[weight]), unit, width: 86, narrow: true },
    { label: "total", value: (row) => row.total[weight], text: (row) => text(row.total[weight]), unit, width: 86, narrow: true },
  ], [tree, weight]);
  if (!chosen || !halves) return <p class="nothing">No calls in this file.</p>;
  const about = (of: Tree) => (node: number) =>
    `${text(of.total[weight][node]!)} · ${formatPercent((of.total[weight][node]! / Math.max(1, of.total[weight][0]!)) * 100)}`;
  const half = (title: string, of: Tree) => (
    <section class="half">
      <h2>{title}</h2>
      <FlameDrawing
        key={`${chosen.name} ${chosen.kind}`} tree={of} weight={weight} order="heavy" hasSearch={false} controls={null}
        label={`${title}: ${nameOf(chosen)}, ${text(of.total[weight][0]!)}`} aboutNode={about(of)} tip={(at) => tip(of, at, weight)}
      />
    </section>
  );
  return (
    <>
      <div class="drawing-bar"><b class="chosen-function" title={nameOf(chosen)}>{shown(chosen)}</b><span class="grow" />{controls}</div>
      <div class="halves">
        <div class="functions choosable">
          <DataTable
            label={{ one: "function", many: "functions" }} rows={rows} columns={columns} name={nameOf} sort={{ column: 1, down: true }}
            height={560} chosen={chosen} choose={choose}
          />
        </div>
        <div class="both">
          {half("Who calls it", halves.callers)}
          {half("What it calls", halves.callees)}
        </div>
      </div>
    </>
  );
}
