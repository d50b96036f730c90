import { ChartView, tooltip } from "../chart";
import { formatDuration, formatPercent } from "../format";
import { Legend, Panel, type Width } from "../panel";
import type { Part, Ring } from "../summary";
import { colour } from "../theme";

// What is behind each part.
const kPlaces: Record<Part, string> = {
  gpu: "kernels", comm: "kernels?class=communication", transfer: "kernels?class=copy", overhead: "timeline", cpu: "flame", idle: "suggestions",
};

export function RingPanel({ ring, span }: { ring: Ring; span: Width }) {
  const share = (ns: number) => formatPercent(ring.total_ns > 0 ? (ns / ring.total_ns) * 100 : 0);
  const parts = ring.parts.filter((part) => part.ns > 0);
  const words = parts.map((part) => `${part.label} ${share(part.ns)}`).join(", ");
  return (
    <Panel title="Where the time went" span={span}>
      <div class="ring">
        <ChartView
          label={`Where the time went: ${words}`}
          height={190}
          data={ring}
          config={() => ({
            type: "doughnut",
            data: {
              labels: parts.map((part) => part.label),
              datasets: [{
                data: parts.map((part) => part.ns),
                backgroundColor: parts.map((part) => colour(part.part)),
                borderColor: colour("panel"),
                borderWidth: 1,
              }],
            },
            options: {
              cutout: "68%",
              layout: { padding: 6 },
              plugins: { tooltip: tooltip((ns, label) => `${label} ${formatDuration(ns)}, ${share(ns)}`) },
            },
          })}
        />
        <p>
          <b>{formatDuration(ring.total_ns)}</b>
          <span>{ring.caption}</span>
        </p>
      </div>
      <Legend items={parts.map((part) => ({ label: part.label, part: part.part, value: share(part.ns), to: kPlaces[part.part] }))} />
    </Panel>
  );
}
