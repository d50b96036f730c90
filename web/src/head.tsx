import type { ComponentChildren } from "preact";
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
  return (
    <nav role="tablist" aria-label="Views">
      {props.tabs.map((tab) => (
        <a key={tab.id} href={`#${tab.id}`} role="tab" aria-selected={tab.id === props.chosen} aria-controls="view">
          {tab.title}
        </a>
      ))}
    </nav>
  );
}
