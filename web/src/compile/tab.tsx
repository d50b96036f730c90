import { useEffect, useState } from "preact/hooks";
import { Cards } from "../cards";
import { formatCount, formatDuration, formatPlural } from "../format";
import { Nothing, Panel } from "../panel";
import { SaveButton, saveTable } from "../save";
import type { Card } from "../summary";
import type { TabProps } from "../tab";
import "./compile.css";
import { compileOf, type CompileReport } from "./data";
import { Faults } from "./faults";
import { CompileTree } from "./tree";

export function CompileTab({ source }: TabProps) {
  const [report, setReport] = useState<CompileReport | null | undefined>(undefined);
  useEffect(() => {
    let current = true;
    void compileOf(source).then((found) => { if (current) setReport(found); });
    return () => { current = false; };
  }, [source]);
  if (report === undefined) return <p class="nothing" aria-busy="true">Reading the logs…</p>;
  if (report === null) {
    return <Nothing>This report has no logs of torch.compile. Record them with TORCH_TRACE=logs python train.py, then run fathom compile logs/ -o compile.html.</Nothing>;
  }
  const damaged = report.logs.reduce((sum, log) => sum + log.damaged_payloads, 0);
  const unreadable = report.logs.reduce((sum, log) => sum + log.unreadable, 0);
  return (
    <>
      <section class="story">
        <h1>{report.story}</h1>
        {unreadable > 0 && <p class="lost">{formatPlural(unreadable, "line", "lines")} of the logs could not be read.</p>}
        {damaged > 0 && <p class="lost">{formatPlural(damaged, "payload", "payloads")} of the logs differ from their checksum: the log is damaged.</p>}
      </section>
      <Cards cards={cardsOf(report)} label="Figures of torch.compile" />
      {report.tree.length > 0 && <CompileTree report={report} />}
      <Faults report={report} />
      <Caches report={report} />
      <Ranks report={report} />
    </>
  );
}

function cardsOf(report: CompileReport): Card[] {
  const count = (label: string, value: number, note: string): Card => ({ label, value: formatCount(value), note });
  const cards = [count("Compilations", report.compilations, `of ${formatPlural(report.functions, "function", "functions")}`)];
  if (report.time_ms !== null) {
    cards.unshift({ label: "Time to compile", value: formatDuration(report.time_ms * 1e6), note: report.logs.length > 1 ? "on the slowest rank" : "in all" });
  }
  cards.push(count("Graph breaks", report.graph_breaks, "left to Python"));
  cards.push(count("Compiled again", report.recompiles, "because a guard failed"));
  if (report.failures > 0) cards.push(count("Failures", report.failures, "run without torch.compile"));
  if (report.fusion) {
    const { ops_before_fusion: before, ops_after_fusion: after, fusion_ratio: ratio } = report.fusion;
    cards.push({ label: "Operations per kernel", value: ratio === null ? "–" : ratio.toFixed(1), note: `${formatCount(before)} → ${formatCount(after)} by fusion` });
  }
  if (report.speedup !== null) cards.push({ label: "Speedup", value: `${report.speedup.toFixed(2)} ×`, note: "compiled against eager" });
  return cards;
}

function Caches({ report }: { report: CompileReport }) {
  const rows = Object.entries(report.caches);
  if (rows.length === 0) return null;
  return (
    <Panel title="Caches" note="time saved is torch's own estimate" span={6}>
      <SaveButton
        kind="CSV" what="caches"
        save={() => saveTable("caches", [["cache", "hits", "misses", "bypassed", "saved (ms)"], ...rows.map(([name, { hits, misses, bypasses, saved_ms }]) => [name, hits, misses, bypasses, saved_ms])])}
      />
      <table>
        <thead><tr><th>cache</th><th>hits</th><th>misses</th><th>bypassed</th><th>saved</th></tr></thead>
        <tbody>
          {rows.map(([name, counts]) => (
            <tr key={name}>
              <td>{name}</td><td>{formatCount(counts.hits)}</td><td>{formatCount(counts.misses)}</td><td>{formatCount(counts.bypasses)}</td>
              <td>{counts.saved_ms === null ? "–" : formatDuration(counts.saved_ms * 1e6)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Ranks({ report }: { report: CompileReport }) {
  if (report.rank_differences.length === 0) return null;
  return (
    <Panel title="Ranks that differ" note="the others wait for a rank that compiles" span={6}>
      <SaveButton
        kind="CSV" what="ranks that differ"
        save={() => saveTable("ranks that differ", [["rank", "what", "count", "usual"], ...report.rank_differences.map((row) => [row.rank, row.what, row.count, row.usual])])}
      />
      <table>
        <thead><tr><th>rank</th><th class="left">what</th><th>count</th><th>usual</th></tr></thead>
        <tbody>
          {report.rank_differences.map((row) => (
            <tr key={`${row.rank} ${row.what}`}><td>rank {row.rank}</td><td class="left">{row.what}</td><td>{formatCount(row.count)}</td><td>{formatCount(row.usual)}</td></tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
