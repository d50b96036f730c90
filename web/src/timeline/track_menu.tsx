import type { Timeline } from "./decode";
import type { TimelineScene } from "./scene";

// Which tracks stay in view while the others scroll, and whether idle threads are shown.
export function TrackMenu({ timeline, scene }: { timeline: Timeline; scene: TimelineScene }) {
  const { shown } = scene;
  const hasQuiet = timeline.tracks.some((track) => track.quiet);
  return (
    <details class="menu">
      <summary class="tool">Tracks</summary>
      <fieldset>
        <legend>Stay in view</legend>
        {timeline.tracks.filter((track) => !track.quiet).map((track) => (
          <label key={track.firstRow} class={track.annotations ? "quiet" : ""}>
            <input type="checkbox" checked={shown.pinned.has(track)} onChange={(event) => scene.pin(track, event.currentTarget.checked)} />
            {track.annotations ? `annotations · ${track.name}` : track.name}
          </label>
        ))}
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
