import type { Timeline } from "./decode";
import { pinnableOf } from "./layout";
import type { TimelineScene } from "./scene";

// Which tracks and counters stay in view while the others scroll, and whether idle threads are shown.
export function TrackMenu({ timeline, scene }: { timeline: Timeline; scene: TimelineScene }) {
  const { shown } = scene;
  const hasQuiet = timeline.tracks.some((track) => track.quiet);
  return (
    <details class="menu">
      <summary class="tool">Tracks</summary>
      <fieldset>
        <legend>Stay in view</legend>
        {pinnableOf(timeline).map((one, at) => {
          const isNote = "annotations" in one && one.annotations;
          return (
            <label key={at} class={isNote ? "quiet" : ""}>
              <input type="checkbox" checked={shown.pinned.has(one)} onChange={(event) => scene.pin(one, event.currentTarget.checked)} />
              {isNote ? `annotations · ${one.name}` : one.name}
            </label>
          );
        })}
        {hasQuiet && (
          <label class="apart">
            <input type="checkbox" checked={shown.quiet} onChange={(event) => { shown.quiet = event.currentTarget.checked; scene.arrange(); }} />
            Show idle threads
          </label>
        )}
      </fieldset>
    </details>
  );
}
