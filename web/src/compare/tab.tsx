import { useEffect, useMemo, useState } from "preact/hooks";
import { useAsked } from "../address";
import { Cards } from "../cards";
import { formatCount, formatDuration, formatPlural, known } from "../format";
import { Nothing, Panel } from "../panel";
import type { Part } from "../summary";
import type { TabProps } from "../tab";
import { DataTable, type Column } from "../table";
import "./compare.css";
import { comparisonOf, nameOf, selfChange, shownIn, type Change, type Comparison, type Verdict } from "./data";
import { ChangeDetails } from "./details";
import { FlameChange } from "./flame";
import { Interval, reachOf } from "./interval";
import { signedDuration, signedPercent, toneOf } from "./words";

export function CompareTab({ source }: TabProps) {
  const [comparison, setComparison] = useState<Comparison | null | undefined>(undefined);
  useEffect(() => {
    let current = true;
    void comparisonOf(source).then((found) => { if (current) setComparison(found); });
    return () => { current = false; };
  }, [source]);
  if (comparison === undefined) return <p class="nothing" aria-busy="true">Reading the comparison…</p>;
  if (comparison === null) {
    return <Nothing>This report is of one run. Run fathom compare BEFORE --with NOW -o compare.html to see what changed between runs.</Nothing>;
  }
  return (
    <>
      <section class="story">
        <h1>{comparison.story}</h1>
        <p>{sidesOf(comparison)}</p>
        {comparison.advice && <p>{comparison.advice}</p>}
      </section>
      {comparison.operations.length > 0 && <Changes comparison={comparison} />}
      <FlameChange source={source} unit={comparison.totals_are_of} />
    </>
  );
}

const sidesOf = (of: Comparison): string =>
  [`${of.base_label} (${formatPlural(of.base_runs, "run", "runs")}) → ${of.current_label} (${formatPlural(of.current_runs, "run", "runs")})`, of.counts]
    .filter(Boolean).join(" · ");

const kVerdicts: Verdict[] = ["SLOWER", "faster", "suspect", "new", "gone", "unstable", "inconclusive", "same"];
const kKinds: Record<Part, string> = {
  gpu: "GPU compute", comm: "communication", transfer: "copies", overhead: "GPU runtime", cpu: "CPU", idle: "other",
};

function Changes({ comparison }: { comparison: Comparison }) {
  const { operations } = comparison;
  // What is chosen is in the address: #compare?verdict=SLOWER&work=gpu&operation=NAME.
  const [asked, ask] = useAsked("compare");
  const verdict = kVerdicts.find((word) => word === asked.get("verdict")) ?? null;
  const part = (Object.keys(kKinds) as Part[]).find((kind) => kind === asked.get("work")) ?? "";
  const chosen = operations.find((row) => nameOf(row) === asked.get("operation") && row.kind === (asked.get("kind") ?? row.kind)) ?? operations[0]!;
  const choose = (row: Change) => ask({ operation: nameOf(row), kind: row.kind });
  const columns = useMemo(() => columnsOf(comparison), [comparison]);
  const rows = useMemo(
    () => operations.filter((row) => (verdict === null || row.verdict === verdict) && (part === "" || row.part === part)),
    [operations, verdict, part],
  );
  const parts = (Object.keys(kKinds) as Part[]).filter((kind) => operations.some((row) => row.part === kind));
  return (
    <>
      <Cards cards={comparison.cards} label="Figures" />
      <Panel title="Operations" note={`the largest change of self time of a ${comparison.totals_are_of} first; the band is ±${comparison.threshold_pct} %`} span={12}>
        <div class="filters">
          <span role="group" aria-label="Verdict">
            <button class="chip" aria-pressed={verdict === null} onClick={() => ask({ verdict: null })}>all {formatCount(operations.length)}</button>
            {kVerdicts.map((word) => {
              const count = operations.filter((row) => row.verdict === word).length;
              return count > 0 && (
                <button key={word} class={`chip ${toneOf(word, null)}`} aria-pressed={verdict === word} onClick={() => ask({ verdict: verdict === word ? null : word })}>
                  {word} {formatCount(count)}
                </button>
              );
            })}
          </span>
          <select aria-label="Kind of work" value={part} onChange={(event) => ask({ work: event.currentTarget.value })}>
            <option value="">all work</option>
            {parts.map((kind) => <option key={kind} value={kind}>{kKinds[kind]}</option>)}
          </select>
        </div>
        <div class="choosable">
          <DataTable
            label={{ one: "operation", many: "operations" }} rows={rows} columns={columns} name={nameOf} sort={{ column: 7, down: true }}
            height={430} chosen={chosen} choose={choose}
          />
        </div>
      </Panel>
      <ChangeDetails change={chosen} unit={comparison.totals_are_of} />
    </>
  );
}

// Where there is no room for all of it, the operation's name is cut, and not which of its calls.
function Name({ change, operation }: { change: Change; operation: string }) {
  if (!change.words) return <>{operation}</>;
  return (
    <span class="qualified">
      <span>{operation}</span>
      <span> · {change.words}</span>
    </span>
  );
}

function columnsOf(comparison: Comparison): Column<Change>[] {
  const { operations, threshold_pct } = comparison;
  const reach = reachOf(operations);
  const shown = shownIn(comparison);
  const time = (label: string, value: (row: Change) => number | null): Column<Change> =>
    ({ label, value, text: (row) => known(value(row), formatDuration), unit: "ns", width: 88 });
  return [
    { label: "operation", value: nameOf, text: (row) => <Name change={row} operation={shown(row)} /> },
    {
      label: "verdict", left: true, value: (row) => kVerdicts.indexOf(row.verdict), saved: (row) => row.verdict,
      text: (row) => <span class={`chip ${toneOf(row.verdict, row.change_pct)}`}>{row.verdict}</span>, width: 128, narrow: true,
    },
    { label: "calls", value: (row) => row.current[0]?.calls ?? 0, saved: (row) => row.calls, text: (row) => row.calls, width: 132 },
    time("before", (row) => row.base_ns),
    time("now", (row) => row.current_ns),
    { label: "change", value: (row) => row.change_pct, text: (row) => known(row.change_pct, signedPercent), unit: "%", width: 88, narrow: true },
    {
      label: `95 % interval, ±${reach} %`, value: (row) => row.low_pct, width: 190,
      text: (row) => <Interval change={row} reach={reach} threshold={threshold_pct} />,
      saved: [["95 % interval from (%)", (row) => row.low_pct], ["95 % interval to (%)", (row) => row.high_pct]],
    },
    { label: "self time", value: (row) => Math.abs(selfChange(row)), saved: selfChange, text: (row) => signedDuration(selfChange(row)), unit: `ns of a ${comparison.totals_are_of}`, width: 100 },
  ];
}
