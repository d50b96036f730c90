import type { ComponentChildren, RefObject } from "preact";

// What the keys do. `children` say what else a reader of this page may wonder about.
export function Help(props: { dialog: RefObject<HTMLDialogElement | null>; tabs: number; canvasKeys?: boolean; children: ComponentChildren }) {
  return (
    <dialog ref={props.dialog} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl>
        <dt><kbd>1</kbd> – <kbd>{props.tabs}</kbd></dt><dd>the tabs, from left to right</dd>
        <dt><kbd>/</kbd></dt><dd>search; <kbd>Esc</kbd> leaves the field</dd>
        {props.canvasKeys && (
          <>
            <dt><kbd>W</kbd> <kbd>S</kbd></dt><dd>timeline and flame: zoom in and out; <kbd>0</kbd> shows all</dd>
            <dt><kbd>A</kbd> <kbd>D</kbd></dt><dd>timeline and flame: move left and right</dd>
            <dt>arrows</dt><dd>flame: walk from call to call; <kbd>Enter</kbd> zooms, <kbd>Esc</kbd> zooms out to the caller</dd>
            <dt /><dd>timeline: move, and with a span selected walk: up and down to what is around it and inside it, then to the next track</dd>
            <dt /><dd>charts: go along, and say what is there; <kbd>Enter</kbd> does what a click does</dd>
            <dt><kbd>Enter</kbd></dt><dd>timeline: selects a span in the middle; its details follow by <kbd>Tab</kbd></dd>
            <dt><kbd>,</kbd> <kbd>.</kbd></dt><dd>the span before and after it in its row</dd>
            <dt><kbd>F</kbd></dt><dd>zooms to the selected range or span</dd>
            <dt><kbd>R</kbd> <kbd>M</kbd> <kbd>T</kbd></dt><dd>sum up what is seen, the time of the selected span, its track alone</dd>
            <dt><kbd>O</kbd> <kbd>P</kbd></dt><dd>fold or open the track of the selected span; keep it in view</dd>
            <dt><kbd>[</kbd> <kbd>]</kbd></dt><dd>the moment before and after</dd>
            <dt><kbd>Esc</kbd></dt><dd>clears the range, then the span</dd>
          </>
        )}
        <dt><kbd>?</kbd></dt><dd>this help</dd>
      </dl>
      {props.children}
      <form method="dialog"><button class="tool">Close</button></form>
    </dialog>
  );
}
