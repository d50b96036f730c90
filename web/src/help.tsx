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
            <dt><kbd>W</kbd> <kbd>S</kbd></dt><dd>timeline and flame: zoom in and out</dd>
            <dt><kbd>A</kbd> <kbd>D</kbd></dt><dd>timeline and flame: move left and right</dd>
          </>
        )}
        <dt><kbd>?</kbd></dt><dd>this help</dd>
      </dl>
      {props.children}
      <form method="dialog"><button class="tool">Close</button></form>
    </dialog>
  );
}
