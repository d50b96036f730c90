import { formatCount, formatDuration, formatPercent } from "../format";
import { Bar, Panel, type Width } from "../panel";
import { isGpuWork, shownName, type Part, type Summary } from "../summary";

interface Row {
  name: string;
  kind: string;
  part: Part;
  calls: number;
  total_ns: number;
  mean_ns: number;
  p99_ns: number | null;
}

const kRows = 10;

export const hasTop = (summary: Summary): boolean => topRows(summary).rows.length > 0;

// The operations that take the most time: on the GPU where there is any, else scopes, else host work.
export function TopOperations({ summary, span }: { summary: Summary; span: Width }) {
  const { title, heading, rows } = topRows(summary);
  const whole = rows.reduce((sum, row) => sum + row.total_ns, 0);
  const largest = Math.max(...rows.map((row) => row.total_ns), 1);
  return (
    <Panel title={title} span={span}>
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
                <td title={row.name}>{shownName(row)}</td>
                <td class="roomy">{formatCount(row.calls)}</td>
                <td>{formatDuration(row.total_ns)}</td>
                <td class="roomy">{formatDuration(row.mean_ns)}</td>
                <td class="roomy">{row.p99_ns === null ? "–" : formatDuration(row.p99_ns)}</td>
                <td>{formatPercent(whole > 0 ? (row.total_ns / whole) * 100 : 0)}</td>
                <td class="roomy"><Bar share={row.total_ns / largest} part={row.part} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function topRows(summary: Summary): { title: string; heading: string; rows: Row[] } {
  const gpu = summary.operations.filter((operation) => isGpuWork(operation.kind));
  if (gpu.length > 0) return { title: "Top kernels", heading: "kernel", rows: byTotal(gpu) };
  if (summary.scopes.length > 0) return { title: "Time by operation", heading: "operation", rows: byTotal(scopeRows(summary)) };
  const host = summary.operations.map((operation) => ({ ...operation, total_ns: operation.self_ns }));
  return { title: "Time by operation, less what is inside it", heading: "operation", rows: byTotal(host) };
}

const byTotal = (rows: Row[]): Row[] => [...rows].sort((a, b) => b.total_ns - a.total_ns);

function scopeRows(summary: Summary): Row[] {
  return summary.scopes.flatMap((scope) => {
    const total_ns = scope.self_ns ?? scope.total_ns;
    if (total_ns === null || scope.calls === 0) return [];
    const mean_ns = (scope.total_ns ?? total_ns) / scope.calls;
    return [{ name: scope.name, kind: "scope", part: dominant(scope), calls: scope.calls, total_ns, mean_ns, p99_ns: scope.p99_ns }];
  });
}

// The part that a scope spends the most of its time on.
export function dominant(scope: { gpu_ns: number | null; transfer_ns: number | null; overhead_ns: number | null; cpu_ns: number | null }): Part {
  const parts: [Part, number][] = [
    ["cpu", scope.cpu_ns ?? 0], ["gpu", scope.gpu_ns ?? 0], ["transfer", scope.transfer_ns ?? 0], ["overhead", scope.overhead_ns ?? 0],
  ];
  return parts.reduce((best, part) => (part[1] > best[1] ? part : best))[0];
}
