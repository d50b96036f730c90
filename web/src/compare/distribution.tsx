import { ChartView, tooltip } from "../chart";
import { formatDuration, formatPercent, tickText } from "../format";
import { colour } from "../theme";
import type { Change, RunTimes } from "./data";

const kBins = 32;
const kMostRuns = 10; // rows per side

interface Scale {
  least: number;
  longest: number;
}

function scaleOf(runs: RunTimes[]): Scale | null {
  const all = runs.flatMap((run) => run.quantiles_ns);
  if (all.length === 0) return null;
  const least = Math.max(1, all.reduce((a, b) => Math.min(a, b)));
  const longest = Math.max(least, all.reduce((a, b) => Math.max(a, b)));
  // A single duration has a place in the middle.
  return longest > least * 1.001 ? { least, longest } : { least: least / 1.01, longest: least * 1.01 };
}

// From 0 at the shortest to 1 at the longest; equal ratios are equally far apart.
const placeOf = (ns: number, { least, longest }: Scale): number =>
  Math.min(1, Math.max(0, Math.log(Math.max(ns, 1) / least) / Math.log(longest / least)));

// Percent of the calls in each bin; every run counts the same.
function sharesOf(runs: RunTimes[], scale: Scale): number[] {
  const shares = new Array<number>(kBins).fill(0);
  for (const { quantiles_ns } of runs) {
    for (const ns of quantiles_ns) {
      const bin = Math.min(kBins - 1, Math.floor(placeOf(ns, scale) * kBins));
      shares[bin]! += 100 / quantiles_ns.length / runs.length;
    }
  }
  return shares;
}

// How long calls took before and now: both as a histogram, then each run as a strip of its calls.
export function Distribution({ change }: { change: Change }) {
  const scale = scaleOf([...change.base, ...change.current]);
  if (!scale) return <p class="quiet">The distribution of its calls is not in this page.</p>;
  const edge = (bin: number) => scale.least * (scale.longest / scale.least) ** (bin / kBins);
  const shares = { before: sharesOf(change.base, scale), now: sharesOf(change.current, scale) };
  const highest = Math.min(100, Math.max(...shares.before, ...shares.now));
  const series = (label: "before" | "now", token: "idle" | "gpu") =>
    ({ label, data: shares[label], backgroundColor: colour(token), categoryPercentage: 0.92, barPercentage: 1 });
  return (
    <>
      <ChartView
        label={`Calls by duration before and now, from ${formatDuration(scale.least)} to ${formatDuration(scale.longest)}`}
        height={140}
        data={change}
        config={() => ({
          type: "bar",
          data: {
            labels: Array.from({ length: kBins }, (_, bin) => tickText(edge(bin), edge(bin + 1) - edge(bin))), // so fine that no two are the same
            datasets: [series("before", "idle"), series("now", "gpu")],
          },
          options: {
            plugins: { tooltip: tooltip((share, side) => `${side}: ${formatPercent(share)} of the calls`) },
            scales: {
              x: { grid: { display: false }, ticks: { maxRotation: 0, autoSkipPadding: 14 } },
              y: { max: highest, border: { display: false }, ticks: { maxTicksLimit: 4, callback: (share) => `${Math.round(Number(share))} %` } },
            },
          },
        })}
      />
      <div class="strips">
        <Strips side="before" runs={change.base} scale={scale} />
        <Strips side="now" runs={change.current} scale={scale} />
      </div>
      <p class="quiet">Grey is before, blue is now. A dot is a call, or an equal share of many; the bar is the run's centre, which the verdict compares.</p>
    </>
  );
}

function Strips({ side, runs, scale }: { side: "before" | "now"; runs: RunTimes[]; scale: Scale }) {
  return (
    <>
      {runs.slice(0, kMostRuns).map((run, index) => {
        const label = runs.length === 1 ? side : `${side} ${index + 1}`;
        const centre = `${2 + 96 * placeOf(run.centre_ns, scale)}%`;
        return (
          <>
            <span class="quiet">{label}</span>
            <svg class={`strip ${side}`} width="100%" height="18" role="img" aria-label={`${label}: centre ${formatDuration(run.centre_ns)}, ${run.calls} calls`}>
              <title>{`${label}: centre ${formatDuration(run.centre_ns)} of ${run.calls} calls`}</title>
              {run.quantiles_ns.map((ns, at) => <circle key={at} cx={`${2 + 96 * placeOf(ns, scale)}%`} cy="9" r="3" />)}
              <line x1={centre} x2={centre} y1="1" y2="17" />
            </svg>
          </>
        );
      })}
      {runs.length > kMostRuns && <><span /><span class="quiet">… {runs.length - kMostRuns} more runs</span></>}
    </>
  );
}
