import { createContext, type ComponentChildren } from "preact";
import { useContext } from "preact/hooks";

// The tabs that this page has: what would lead elsewhere is no link.
export const TabsOfPage = createContext<ReadonlySet<string>>(new Set());

export function useHasTab(): (tab: string) => boolean {
  const tabs = useContext(TabsOfPage);
  return (tab) => tabs.has(tab);
}

// Leads to an address of the page, "#kernels?class=copy", if the page has that tab; else plain.
export function Link(props: { to: string | null; class?: string; title?: string; children: ComponentChildren }) {
  const has = useHasTab();
  const { to, children, class: name = "", ...rest } = props;
  const tab = to?.replace(/^#/, "").split("?")[0];
  if (to && tab && has(tab)) return <a class={`lead ${name}`} href={to.startsWith("#") ? to : `#${to}`} {...rest}>{children}</a>;
  return <span class={name} {...rest}>{children}</span>;
}
