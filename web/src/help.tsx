import type { RefObject } from "preact";
import type { Tab } from "./tab";

export function Help(props: { dialog: RefObject<HTMLDialogElement | null>; tabs: readonly Tab[] }) {
  return (
    <dialog ref={props.dialog} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl>
        <dt><kbd>1</kbd> – <kbd>{props.tabs.length}</kbd></dt><dd>the tabs, from left to right</dd>
        <dt><kbd>/</kbd></dt><dd>search; <kbd>Esc</kbd> leaves the field</dd>
        <dt><kbd>W</kbd> <kbd>S</kbd></dt><dd>timeline and flame: zoom in and out</dd>
        <dt><kbd>A</kbd> <kbd>D</kbd></dt><dd>timeline and flame: move left and right</dd>
        <dt><kbd>?</kbd></dt><dd>this help</dd>
      </dl>
      <p class="quiet">
        Blue is GPU work, purple communication, yellow copies and fills, orange the GPU runtime, green the CPU, grey idle. A profile JSON
        dropped onto the page opens in it. The page loads nothing from the network.
      </p>
      <form method="dialog"><button class="tool">Close</button></form>
    </dialog>
  );
}
