import { useMemo } from "preact/hooks";
import { kFigures, type Figure } from "../history/figures";
import { History } from "../history/history";
import { Trend, type TrendSource } from "../history/trend";
import { Panel } from "../panel";
import { SavePanelButton } from "../save";
import type { Samples, SessionReport } from "../serve/api";

// The course of each GPU's figures, with their least, mean and most beside them.
export function SessionTrends({ history, metrics }: { history: Samples; metrics: SessionReport["metrics"] }) {
  const samples = useMemo(() => {
    const kept = new History();
    kept.appendAll(history);
    return kept;
  }, [history]);
  if (samples.length === 0) return null;
  return (
    <>
      {Object.entries(history.devices).map(([uuid, { name }]) => {
        const shown = kFigures.filter(({ metric }) => samples.knows(uuid, metric));
        return shown.length === 0 ? null : (
          <Panel key={uuid} title={name} span={Object.keys(history.devices).length > 1 ? 6 : 12}>
            <SavePanelButton what={name} />
            {shown.map((figure, at) => (
              <Course key={figure.metric} figure={figure} uuid={uuid} samples={samples} metrics={metrics} hasClock={at === shown.length - 1} />
            ))}
          </Panel>
        );
      })}
    </>
  );
}

function Course(props: { figure: Figure; uuid: string; samples: History; metrics: SessionReport["metrics"]; hasClock: boolean }) {
  const { figure, uuid, samples } = props;
  const source = useMemo((): TrendSource => {
    const gap = Math.max(2500, 4 * samples.step);
    return {
      span: () => ({ from: samples.begin, to: samples.end }),
      line: (from, to, pixels) => samples.line(uuid, figure.metric, from, to, pixels, gap),
    };
  }, [samples, uuid, figure]);
  const { least, mean, most } = props.metrics[uuid]?.[figure.metric] ?? {};
  return (
    <div class="meter gpu">
      <div class="now">
        <span class="what">{figure.label}</span>
        <span class="value">{mean !== undefined && <><b>{figure.text(mean)}</b> mean</>}</span>
        {least !== undefined && most !== undefined && <span class="ends">{figure.text(least)} – {figure.text(most)}</span>}
      </div>
      <Trend
        label={figure.label}
        source={source}
        top={figure.topOf(most ?? samples.line(uuid, figure.metric, samples.begin, samples.end, 1, Infinity).most)}
        limit={null}
        tone="gpu"
        text={figure.text}
        tick={figure.tick}
        hasClock={props.hasClock}
      />
    </div>
  );
}
