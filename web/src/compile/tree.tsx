import { useMemo, useState } from "preact/hooks";
import type { Cell } from "../csv";
import { formatCount, formatDuration, known } from "../format";
import { Panel } from "../panel";
import { SaveButton, saveTable } from "../save";
import { placeOf, type Compilation, type CompileReport, type StackFrame, type TreeNode } from "./data";
import { CompilationDetails } from "./details";
import { PhaseBar, PhaseLegend } from "./phases";

const kRowsShown = 1000;

// A line of the program, or what it made torch compile.
type Row =
  | { kind: "line"; depth: number; node: TreeNode }
  | { kind: "compilation"; depth: number; one: Compilation; rank: number | null };

// Lines of the program as a tree, with the compilations that each caused; time as bars.
export function CompileTree({ report }: { report: CompileReport }) {
  const rows = useMemo(() => rowsOf(report), [report]);
  const first = rows.find((row) => row.kind === "compilation");
  const [chosen, choose] = useState<Row | undefined>(first);
  const whole = Math.max(...report.tree.map((node) => node.time_ms ?? 0));
  const hasRanks = report.logs.length > 1;
  return (
    <>
      <Panel title="What was compiled, and by which line" note="click a compilation for its guards, breaks and caches" span={12}>
        <SaveButton kind="CSV" what="compilations" save={() => saveTable("compilations", tableOf(rows))} />
        <div class="scroller compile-tree choosable" tabIndex={0} aria-label="compilations">
          <table>
            <thead><tr><th>line of the program · compilation</th><th class="bar-column" aria-label="bar" /><th>time</th><th class="roomy">ops → kernels</th><th class="left roomy">what happened</th></tr></thead>
            <tbody>
              {rows.slice(0, kRowsShown).map((row, index) =>
                row.kind === "line"
                  ? <Line key={index} row={row} whole={whole} />
                  : <One key={index} row={row} whole={whole} hasRanks={hasRanks} chosen={row === chosen} choose={() => choose(row)} />)}
            </tbody>
          </table>
        </div>
        {rows.length > kRowsShown && <p class="quiet">… {formatCount(rows.length - kRowsShown)} more; fathom compile --json has them all.</p>}
        <PhaseLegend />
      </Panel>
      {chosen?.kind === "compilation" && <CompilationDetails one={chosen.one} rank={chosen.rank} />}
    </>
  );
}

function rowsOf(report: CompileReport): Row[] {
  const rows: Row[] = [];
  for (const node of report.tree) {
    const below = node.compilations.flatMap(({ log, index }) => {
      const one = report.logs[log]?.compilations[index];
      return one ? [{ kind: "compilation" as const, depth: node.depth + (node.stack.length > 0 ? 1 : 0), one, rank: report.logs[log]?.rank ?? null }] : [];
    });
    if (node.stack.length > 0) rows.push({ kind: "line", depth: node.depth, node });
    rows.push(...below);
  }
  return rows;
}

// A row per line of the program and per compilation, as deep as it stands.
const tableOf = (rows: Row[]): Cell[][] => [
  ["depth", "line of the program or compilation", "place", "rank", "time (ms)", "operations", "kernels", "what happened"],
  ...rows.map((row): Cell[] => {
    if (row.kind === "line") {
      const frame = row.node.stack.at(-1)!;
      return [row.depth, frame.function, `${frame.file}:${frame.line}`, null, row.node.time_ms, null, null, ""];
    }
    const { one, rank } = row;
    const place = one.file === null ? "" : `${one.file}:${one.line ?? "?"}`;
    return [row.depth, `[${one.id}] ${one.function ?? ""}`, place, rank, one.time_ms, one.fusion?.ops_before_fusion ?? null, one.fusion?.ops_after_fusion ?? null, happened(one)];
  }),
];

const indent = (depth: number) => ({ paddingLeft: `${8 + Math.min(depth, 12) * 16}px` });

// Those between the first and the last are named when the line is pointed at.
const wayTo = (above: StackFrame[]): string =>
  above.length <= 2 ? above.map((frame) => frame.function).join(" → ") : `${above[0]!.function} → … ${formatCount(above.length - 1)} more`;

function Line({ row: { node, depth }, whole }: { row: Extract<Row, { kind: "line" }>; whole: number }) {
  const frame = node.stack.at(-1)!;
  const above = node.stack.slice(0, -1);
  const path = node.stack.map((each) => `${each.function} · ${placeOf(each)}${each.code ? `   ${each.code}` : ""}`).join("\n");
  return (
    <tr class="line">
      <td style={indent(depth)} title={path}>
        {above.length > 0 && <span class="quiet">{wayTo(above)} → </span>}
        {frame.function} <span class="quiet">{placeOf(frame)}</span> {frame.code && <code>{frame.code}</code>}
      </td>
      <td class="bar-column"><PhaseBar time={node.time_ms} phases={null} whole={whole} /></td>
      <td>{known(node.time_ms, (ms) => formatDuration(ms * 1e6))}</td>
      <td class="roomy" />
      <td class="roomy" />
    </tr>
  );
}

interface OneProps {
  row: Extract<Row, { kind: "compilation" }>;
  whole: number;
  hasRanks: boolean;
  chosen: boolean;
  choose: () => void;
}

function One({ row: { one, depth, rank }, whole, hasRanks, chosen, choose }: OneProps) {
  const place = one.file !== null && one.line !== null ? placeOf({ file: one.file, line: one.line }) : "";
  return (
    <tr class={chosen ? "chosen" : ""} onClick={choose}>
      <td style={indent(depth)} title={one.function ?? ""}>
        <button type="button" class="compilation" onClick={choose}>[{one.id}] {one.function ?? "–"}</button> <span class="quiet">{place}{hasRanks && rank !== null ? ` · rank ${rank}` : ""}</span>
      </td>
      <td class="bar-column"><PhaseBar time={one.time_ms} phases={one.phases_ms} whole={whole} /></td>
      <td>{known(one.time_ms, (ms) => formatDuration(ms * 1e6))}</td>
      <td class="roomy">{one.fusion ? `${formatCount(one.fusion.ops_before_fusion)} → ${formatCount(one.fusion.ops_after_fusion)}` : "–"}</td>
      <td class="left roomy"><span class={one.fail_type === null ? "quiet" : "bad"}>{happened(one)}</span></td>
    </tr>
  );
}

function happened(one: Compilation): string {
  const words: string[] = [];
  if (one.fail_type !== null) words.push("failed");
  if (one.graph_breaks.length > 0) words.push(one.graph_breaks.length === 1 ? "graph break" : `${one.graph_breaks.length} graph breaks`);
  if (one.is_recompile) words.push("compiled again");
  if (one.cudagraph_skips.length > 0) words.push("no CUDA graph");
  const hits = one.caches.filter((event) => event.outcome === "hit").length;
  if (hits > 0) words.push(hits === 1 ? "cache hit" : `${hits} cache hits`);
  return words.join(" · ");
}
