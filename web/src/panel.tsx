import type { ComponentChildren } from "preact";
import type { Fill } from "./classes";

export type Width = 4 | 6 | 8 | 12;

// A titled box of the page's grid, `span` of its twelve columns wide.
export function Panel(props: { title: string; span: Width; note?: string | undefined; children: ComponentChildren }) {
  return (
    <section class={`panel c${props.span}`}>
      <h2>
        {props.title}
        {props.note && <span class="quiet"> {props.note}</span>}
      </h2>
      {props.children}
    </section>
  );
}

export function Legend(props: { items: { label: string; part: Fill; value?: string }[] }) {
  return (
    <div class="legend">
      {props.items.map((item) => (
        <span key={item.label}>
          <i class={`fill ${item.part}`} />
          {item.label} {item.value}
        </span>
      ))}
    </div>
  );
}

// A share of the whole, in the colour of its part.
export function Bar(props: { share: number; part: Fill }) {
  const width = Math.min(100, Math.max(0, props.share * 100));
  return (
    <div class="bar">
      <i class={`fill ${props.part}`} style={{ width: `${width}%` }} />
    </div>
  );
}

export function Nothing(props: { children: ComponentChildren }) {
  return <p class="nothing c12">{props.children}</p>;
}
