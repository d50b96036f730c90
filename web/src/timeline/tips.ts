import type { Tip } from "../canvas/tooltip";
import { valueAt } from "../canvas/view";
import { formatDuration, formatPlural } from "../format";
import { kPinWidth } from "./column";
import { levelText } from "./counter";
import { instantAt } from "./instants";
import type { Band } from "./layout";
import { levelAt } from "./levels";
import type { TimelineScene } from "./scene";

// What the pointer is over, in words; null where there is nothing to say.
export function tipAt(scene: TimelineScene, x: number, y: number): Tip | null {
  const { timeline, layout, view } = scene;
  const band = scene.bandAt(y);
  if (x < scene.left) return band && { x, y, ...aboutName(scene, band, x) };
  const instant = instantAt(timeline.instants, layout, scene.scrolled, view, x - scene.left, y - scene.ruler);
  if (instant) return { x, y, title: instant.name, lines: [`at ${formatDuration(instant.at)}`] };
  if (band?.kind === "counter") {
    const level = levelAt(band.counter, view, x - scene.left);
    if (!level) return null;
    const text = (value: number) => levelText(band.counter, value);
    const range = level.high > level.low ? [`${text(level.low)} to ${text(level.high)} within this pixel`] : [];
    return { x, y, title: `${band.counter.name}: ${text(level.mean)}`, lines: [...range, `at ${formatDuration(valueAt(view, x - scene.left))}`] };
  }
  if (band?.kind === "path") {
    const { rows, bounds } = band.path;
    const segment = rows.find(0, valueAt(view, x - scene.left), 0);
    if (segment < 0) return null;
    const span = band.path.span[segment]!;
    const name = span < 0 ? [] : [timeline.names[timeline.rows.label[span]!]!];
    return { x, y, title: bounds[rows.label[segment]!]!.label, lines: [...name, `${formatDuration(rows.length[segment]!)} on the critical path`] };
  }
  const span = scene.spanAt(x, y);
  if (span < 0) return null;
  const { rows } = timeline;
  return { x, y, title: timeline.names[rows.label[span]!]!, lines: [`${formatDuration(rows.length[span]!)} at ${formatDuration(rows.start[span]!)}`] };
}

function aboutName(scene: TimelineScene, band: Band, x: number): { title: string; lines: string[] } {
  if (band.kind === "counter") return { title: band.counter.name, lines: x >= scene.left - kPinWidth ? [scene.shown.pinned.has(band.counter) ? "Click unpins" : "Click pins"] : [] };
  if (band.kind === "path") return { title: "Critical path", lines: ["What bounds the run at each instant"] };
  if (band.kind === "quiet") {
    return { title: formatPlural(band.tracks.length, "thread does next to nothing", "threads do next to nothing"), lines: band.tracks.slice(0, 8).map(({ name }) => name) };
  }
  if (band.kind === "gpu") return { title: band.gpu, lines: [`${formatPlural(band.tracks.length, "stream", "streams")} in one row`, "Click shows each"] };
  const { track } = band;
  const isPinned = scene.shown.pinned.has(track);
  if (x >= scene.left - kPinWidth) return { title: track.name, lines: [isPinned ? "Click unpins" : "Click pins"] };
  const frames = band.hidden > 0 ? [`${band.hidden + 1} frames around everything are one row`] : [];
  return { title: track.name, lines: [track.process, ...frames, track.rows > 1 ? "Click folds or opens" : ""].filter(Boolean) };
}
