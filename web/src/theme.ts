import { useEffect, useState } from "preact/hooks";
import type { Fill } from "./classes";

// Light or dark: what the reader chose here, else what the system prefers; light on paper.
// styles.css has both colours of every token; canvases ask `colour` for the one that holds now.

export type Scheme = "light" | "dark";

const kStored = "fathom.scheme";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const onPaper = matchMedia("print");
const isNarrow = matchMedia("(max-width: 600px)");
const changed = new EventTarget();

let chosen: Scheme | null = stored();

export function currentScheme(): Scheme {
  if (onPaper.matches) return "light";
  return chosen ?? (prefersDark.matches ? "dark" : "light");
}

export function toggleScheme(): void {
  chosen = currentScheme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(kStored, chosen);
  } catch {
    // A page opened from a file may have no storage; the choice then lasts as long as the page.
  }
  apply();
}

export function apply(): void {
  document.documentElement.dataset["scheme"] = currentScheme();
  changed.dispatchEvent(new Event("change"));
}

// Calls back whenever colours change, until the returned function is called.
export function onSchemeChange(callback: () => void): () => void {
  changed.addEventListener("change", callback);
  return () => changed.removeEventListener("change", callback);
}

// The scheme that holds now; the component is drawn again when it changes.
export function useScheme(): Scheme {
  const [scheme, setScheme] = useState(currentScheme());
  useEffect(() => onSchemeChange(() => setScheme(currentScheme())), []);
  return scheme;
}

// Whether the page is being printed.
export function usePaper(): boolean {
  const [paper, setPaper] = useState(onPaper.matches);
  useEffect(() => onSchemeChange(() => setPaper(onPaper.matches)), []);
  return paper;
}

// Whether the window is as narrow as a phone.
export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(isNarrow.matches);
  useEffect(() => {
    const tell = () => setNarrow(isNarrow.matches);
    isNarrow.addEventListener("change", tell);
    return () => isNarrow.removeEventListener("change", tell);
  }, []);
  return narrow;
}

export type Token = Fill | "ink" | "ink-2" | "ink-3" | "line" | "panel" | "bg" | "hover" | "good" | "warn" | "bad";

// The colour of a token of styles.css, as a canvas takes it.
export function colour(token: Token): string {
  probe.style.color = `var(--${token})`;
  if (!probe.isConnected) document.body.append(probe);
  return getComputedStyle(probe).color;
}

const probe = document.createElement("span");
probe.hidden = true;

function stored(): Scheme | null {
  try {
    const value = localStorage.getItem(kStored);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null;
  }
}

prefersDark.addEventListener("change", apply);
onPaper.addEventListener("change", apply);
