import { useLayoutEffect } from "preact/hooks";
import type { TabName } from "./tab";

// Keys of the whole page: a digit chooses a tab by its place in the bar, / finds, ? helps. Canvases have their own beside these.
export function useKeys(tabs: readonly TabName[], help: () => void): void {
  // Before the first paint: what is seen can be used.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event.target)) {
        if (event.key === "Escape") (event.target as HTMLElement).blur();
        return;
      }
      const tab = tabs[Number(event.key) - 1];
      if (tab) {
        location.hash = tab.id;
      } else if (event.key === "/") {
        const finder = document.querySelector<HTMLInputElement>("[data-finder]");
        finder?.scrollIntoView({ block: "nearest" });
        finder?.focus();
        finder?.select();
      } else if (event.key === "?") {
        help();
      } else {
        return;
      }
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
