import { known } from "../format";
import { figureOf } from "../history/figures";
import { Panel } from "../panel";
import { SaveButton, saveTable } from "../save";
import type { SessionReport } from "../serve/api";

// Least, mean and most of every figure of every GPU.
export function MetricTable(props: { metrics: SessionReport["metrics"]; nameOf: (uuid: string) => string }) {
  const devices = Object.entries(props.metrics);
  if (devices.length === 0) return null;
  return (
    <Panel title="All figures" span={12}>
      <SaveButton
        kind="CSV" what="all figures"
        save={() => saveTable("all figures", [
          ["GPU", "figure", "least", "mean", "most"],
          ...devices.flatMap(([uuid, metrics]) => Object.entries(metrics).map(([name, { least, mean, most }]) => [props.nameOf(uuid), name, least ?? null, mean ?? null, most ?? null])),
        ])}
      />
      <div class="metric-tables">
        {devices.map(([uuid, metrics]) => (
          <table key={uuid}>
            <thead><tr><th scope="col">{props.nameOf(uuid)}</th><th scope="col">least</th><th scope="col">mean</th><th scope="col">most</th></tr></thead>
            <tbody>
              {Object.entries(metrics).map(([name, range]) => {
                const { label, text } = figureOf(name);
                return (
                  <tr key={name}>
                    <td>{label}</td>
                    {[range.least, range.mean, range.most].map((value, at) => <td key={at}>{known(value ?? null, text)}</td>)}
                  </tr>
                );
              })}
            </tbody>
          </table>
        ))}
      </div>
    </Panel>
  );
}
