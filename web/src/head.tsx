import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { TabName } from "./tab";
import { toggleScheme, useScheme } from "./theme";

// The top of every page: what it is about at the left, what can be done at the right.
export function Head(props: { about: ComponentChildren; help: () => void; children: ComponentChildren }) {
  const scheme = useScheme();
  return (
    <header>
      <span class="mark">fath<i>o</i>m</span>
      {props.about}
      <span class="grow" />
      {props.children}
      <button class="tool" onClick={toggleScheme} title="Light or dark">{scheme === "dark" ? "Light" : "Dark"}</button>
      <button class="tool wide-only" onClick={props.help} aria-label="Help"><kbd>/</kbd> <kbd>?</kbd></button>
    </header>
  );
}

export function Tabs(props: { tabs: readonly TabName[]; chosen: string }) {
  const bar = useRef<HTMLElement>(null);
  // Where they do not all fit, as on a phone, the one that is shown is in view.
  useEffect(() => {
    const tab = bar.current?.querySelector<HTMLElement>("[aria-selected=true]");
    if (bar.current && tab) bar.current.scrollTo({ left: tab.offsetLeft - (bar.current.clientWidth - tab.clientWidth) / 2 });
  }, [props.chosen, props.tabs.length]);
  return (
    <nav ref={bar} role="tablist" aria-label="Views">
      {props.tabs.map((tab) => (
        <a key={tab.id} href={`#${tab.id}`} role="tab" aria-selected={tab.id === props.chosen} aria-controls="view">
          {tab.title}
        </a>
      ))}
    </nav>
  );
}
