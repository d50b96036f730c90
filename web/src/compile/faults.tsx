import type { ComponentChildren } from "preact";
import { formatCount, formatDuration } from "../format";
import { Panel } from "../panel";
import type { CompileReport } from "./data";
import { Stack } from "./stack";

const at = (place: string | null): string => (place ? ` at ${place}` : "");

// What went wrong, most serious first: failures, graph breaks, recompilations, graphs that CUDA did not capture.
export function Faults({ report }: { report: CompileReport }) {
  return (
    <>
      <List title="Failures" note="these functions run without torch.compile">
        {report.failed.map((one, index) => (
          <Fault key={index} count={one.count} title={`${one.function}${at(one.where)}`} why={[one.type, one.reason].filter(Boolean).join(": ")} how={one.advice} />
        ))}
      </List>
      <List title="Graph breaks" note="what comes before and after a break is not fused">
        {report.break_reasons.map((one, index) => (
          <Fault key={index} count={one.count} title={`${one.function}${one.where ? ` ${one.where}` : ""}`} why={one.reason} how={one.advice}>
            <Stack frames={one.stack} />
          </Fault>
        ))}
      </List>
      <List title="Compiled again" note="a guard failed: what the code was compiled for had changed">
        {report.recompiled.map((one, index) => (
          <Fault
            key={index} count={one.times} unit={formatDuration(one.time_ms * 1e6)} title={`${one.function}${at(one.where)}`}
            why={one.reasons.length > 0 ? one.reasons.join("\n") : "The log does not say which guard failed."} how={one.advice}
          />
        ))}
      </List>
      <List title="CUDA graphs were not used">
        {report.cudagraph_skips.map((one, index) => <Fault key={index} count={one.count} title={one.reason} why="" how={one.advice} />)}
      </List>
      <List title="CUDA graphs recorded again" note="for other sizes, or because a tensor had moved">
        {report.cudagraph_rerecorded.map((one, index) => (
          <Fault key={index} count={one.times} title={`${one.function}${at(one.where)}`} why="" how={one.advice} />
        ))}
      </List>
    </>
  );
}

function List({ title, note, children }: { title: string; note?: string; children: ComponentChildren[] }) {
  if (children.length === 0) return null;
  return (
    <Panel title={`${title} · ${formatCount(children.length)}`} note={note} span={12}>
      <ol class="suggestions">{children}</ol>
    </Panel>
  );
}

function Fault(props: { count: number; unit?: string; title: string; why: string; how: string | null; children?: ComponentChildren }) {
  return (
    <li class="suggestion fault">
      <div class="gain">
        <b>{formatCount(props.count)} ×</b>
        {props.unit && <span class="priority">{props.unit}</span>}
      </div>
      <div>
        <h3>{props.title}</h3>
        {props.why && <p class="why">{props.why}</p>}
        {props.how && <p>{props.how}</p>}
        {props.children}
      </div>
    </li>
  );
}
