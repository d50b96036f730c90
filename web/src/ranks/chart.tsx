import { rankAddress } from "../address";
import { ChartView, tooltip } from "../chart";
import { formatPercent } from "../format";
import { useHasTab } from "../link";
import { Legend } from "../panel";
import type { Part, Rank } from "../summary";
import { colour } from "../theme";

const kParts: { part: Part; label: string; key: "compute_pct" | "communication_pct" | "memory_pct" | "idle_pct" }[] = [
  { part: "gpu", label: "compute", key: "compute_pct" },
  { part: "comm", label: "communication", key: "communication_pct" },
  { part: "transfer", label: "copies", key: "memory_pct" },
  { part: "idle", label: "idle", key: "idle_pct" },
];

// A bar per rank, parted as everywhere; each leads to its GPU work on the timeline.
export function RankChart({ ranks }: { ranks: Rank[] }) {
  const leads = useHasTab()("timeline") && ranks.every((rank) => rankAddress(rank) !== null);
  const pick = (index: number) => { location.hash = rankAddress(ranks[index]!)!; };
  const words = ranks.map((rank) => `${rank.label} idle ${rank.idle_pct === null ? "unknown" : formatPercent(rank.idle_pct)}`).join(", ");
  return (
    <>
      <ChartView
        label={`How each rank spent its time: ${words}`}
        height={190}
        data={ranks}
        pick={leads ? pick : undefined}
        config={() => ({
          type: "bar",
          data: {
            labels: ranks.map((rank) => rank.label),
            datasets: kParts.map(({ part, label, key }) => ({
              label, data: ranks.map((rank) => rank[key]), backgroundColor: colour(part), maxBarThickness: 72,
            })),
          },
          options: {
            interaction: { mode: "index", intersect: false },
            plugins: { tooltip: tooltip((pct, label) => `${label} ${formatPercent(pct)}`) },
            scales: {
              x: { stacked: true, grid: { display: false }, ticks: { maxRotation: 0, autoSkipPadding: 8 } },
              y: { stacked: true, max: 100, border: { display: false }, ticks: { stepSize: 25, callback: (pct) => `${pct} %` } },
            },
          },
        })}
      />
      <Legend items={kParts.map(({ part, label }) => ({ part, label }))} />
    </>
  );
}
