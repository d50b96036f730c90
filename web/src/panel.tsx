import type { ComponentChildren } from "preact";
import type { Fill } from "./classes";
import { Link } from "./link";

export type Width = 4 | 6 | 8 | 12;

// A titled box of the page's grid, `span` of its twelve columns wide. `to` is where there is more of it.
export function Panel(props: { title: string; span: Width; note?: string | undefined; to?: string; children: ComponentChildren }) {
  return (
    <section class={`panel c${props.span}`}>
      <h2>
        <Link to={props.to ?? null}>{props.title}</Link>
        {props.note && <span class="quiet"> {props.note}</span>}
      </h2>
      {props.children}
    </section>
  );
}

export function Legend(props: { items: { label: string; part: Fill; value?: string | undefined; to?: string | null }[] }) {
  return (
    <div class="legend">
      {props.items.map((item) => (
        <Link key={item.label} to={item.to ?? null}>
          <i class={`fill ${item.part}`} />
          {item.label} {item.value}
        </Link>
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
