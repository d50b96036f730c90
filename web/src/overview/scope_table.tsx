import { formatCount, formatDuration, known } from "../format";
import { Panel } from "../panel";
import type { Scope } from "../summary";
import { DataTable, type Column } from "../table";

const time = (label: string, value: (row: Scope) => number | null): Column<Scope> =>
  ({ label, value, text: (row) => known(value(row), formatDuration), unit: "ns", width: 84 });

const kColumns: Column<Scope>[] = [
  { label: "scope", value: (row) => row.name, text: (row) => row.name },
  { label: "calls", value: (row) => row.calls, text: (row) => formatCount(row.calls), width: 76 },
  { ...time("total", (row) => row.total_ns), narrow: true },
  { ...time("self", (row) => row.self_ns), narrow: true },
  time("mean", (row) => row.mean_ns),
  time("p50", (row) => row.p50_ns),
  time("p99", (row) => row.p99_ns),
  {
    label: "GPU · transfer · overhead · CPU", value: (row) => row.gpu_ns, text: (row) => <Parts scope={row} />, width: 220,
    saved: [["GPU (ns)", (row) => row.gpu_ns], ["transfer (ns)", (row) => row.transfer_ns], ["overhead (ns)", (row) => row.overhead_ns], ["CPU (ns)", (row) => row.cpu_ns]],
  },
];

// Scopes of the library, exact for the whole run.
export function ScopeTable({ scopes, chosen, choose }: { scopes: Scope[]; chosen: Scope | null; choose: (row: Scope) => void }) {
  return (
    <Panel title="Scopes" note="as the recorder counted them" span={12}>
      <div class="choosable">
        <DataTable label={{ one: "scope", many: "scopes" }} rows={scopes} columns={kColumns} name={(row) => row.name} sort={{ column: 3, down: true }} height={380} chosen={chosen} choose={choose} />
      </div>
    </Panel>
  );
}

function Parts({ scope }: { scope: Scope }) {
  const parts = [
    { part: "gpu", ns: scope.gpu_ns }, { part: "transfer", ns: scope.transfer_ns },
    { part: "overhead", ns: scope.overhead_ns }, { part: "cpu", ns: scope.cpu_ns },
  ];
  const whole = parts.reduce((sum, part) => sum + (part.ns ?? 0), 0);
  if (whole <= 0) return <>–</>;
  const words = parts.map(({ part, ns }) => `${part} ${known(ns, formatDuration)}`).join(", ");
  return (
    <div class="bar" title={words} role="img" aria-label={words}>
      {parts.map(({ part, ns }) => <i key={part} class={`fill ${part}`} style={{ width: `${((ns ?? 0) / whole) * 100}%` }} />)}
    </div>
  );
}
