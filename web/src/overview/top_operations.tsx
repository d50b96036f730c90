import { formatCount, formatDuration, formatPercent, known } from "../format";
import { Bar, Panel, type Width } from "../panel";
import { kernelAddress, operationAddress } from "../address";
import type { Cell } from "../csv";
import { Link } from "../link";
import { SaveButton, saveTable } from "../save";
import { isGpuWork, namesOf, type Part, type Summary } from "../summary";

interface Row {
  name: string;
  kind: string;
  part: Part;
  calls: number;
  total_ns: number; // as it is ranked
  share_pct: number | null;
  mean_ns: number | null;
  p99_ns: number | null;
}

const kRows = 10;

export const hasTop = (summary: Summary): boolean => topRows(summary).rows.length > 0;

// The operations that take the most time: on the GPU where there is any, else scopes, else host work.
export function TopOperations({ summary, span }: { summary: Summary; span: Width }) {
  const { title, note, heading, rows } = topRows(summary);
  const shown = namesOf(summary);
  const largest = Math.max(...rows.map((row) => row.total_ns), 1);
  return (
    <Panel title={title} note={note} span={span} to="kernels">
      <SaveButton kind="CSV" what={title.toLowerCase()} save={() => saveTable(title.toLowerCase(), tableOf(heading, rows))} />
      <div class="scroller">
        <table>
          <thead>
            <tr>
              <th scope="col">{heading}</th><th scope="col" class="roomy">calls</th><th scope="col">total</th>
              <th scope="col" class="roomy">mean</th><th scope="col" class="roomy">p99</th><th scope="col">share</th>
              <th scope="col" aria-label="bar" class="bar-column roomy" />
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, kRows).map((row, index) => (
              <tr key={index}>
                <td title={row.name}><Link to={isGpuWork(row.kind) ? kernelAddress(row.name) : operationAddress(row)}>{shown(row)}</Link></td>
                <td class="roomy">{formatCount(row.calls)}</td>
                <td>{formatDuration(row.total_ns)}</td>
                <td class="roomy">{known(row.mean_ns, formatDuration)}</td>
                <td class="roomy">{known(row.p99_ns, formatDuration)}</td>
                <td>{known(row.share_pct, formatPercent)}</td>
                <td class="roomy"><Bar share={row.total_ns / largest} part={row.part} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

// All of them, not the first ten alone.
const tableOf = (heading: string, rows: Row[]): Cell[][] => [
  [heading, "calls", "total (ns)", "mean (ns)", "p99 (ns)", "share (%)"],
  ...rows.map((row) => [row.name, row.calls, row.total_ns, row.mean_ns, row.p99_ns, row.share_pct]),
];

function topRows(summary: Summary): { title: string; note: string; heading: string; rows: Row[] } {
  const gpu = summary.operations.filter((operation) => isGpuWork(operation.kind)).map((row) => ({ ...row, share_pct: row.gpu_share_pct }));
  if (gpu.length > 0) return { title: "Top kernels", note: "shares of all GPU work", heading: "kernel", rows: byTotal(gpu) };
  if (summary.scopes.length > 0) return { title: "Time by operation", note: "less what is inside it", heading: "operation", rows: byTotal(scopeRows(summary)) };
  const host = summary.operations.map((operation) => ({ ...operation, total_ns: operation.self_ns }));
  return { title: "Time by operation", note: "less what is inside it", heading: "operation", rows: byTotal(host) };
}

const byTotal = (rows: Row[]): Row[] => [...rows].sort((a, b) => b.total_ns - a.total_ns);

const scopeRows = (summary: Summary): Row[] => summary.scopes.flatMap((scope) => {
  const total_ns = scope.self_ns ?? scope.total_ns;
  return total_ns === null || scope.calls === 0 ? [] : [{ ...scope, kind: "scope", total_ns }];
});
