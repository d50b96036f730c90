import { useEffect, useState } from "preact/hooks";
import type { Rank } from "./summary";

// What the address asks a tab for, "#kernels?class=gemm": a link shows the same thing to whoever opens it.

const asked = (): URLSearchParams => new URLSearchParams(location.hash.split("?")[1] ?? "");

// "#kernels?class=gemm"; without what is null or empty.
export function addressOf(tab: string, fields: Record<string, string | null>): string {
  const kept = Object.entries(fields).filter((field): field is [string, string] => field[1] !== null && field[1] !== "");
  return kept.length === 0 ? `#${tab}` : `#${tab}?${new URLSearchParams(kept)}`;
}

// What is asked for now, and a way to ask for something else; the address follows, without a step in the history.
export function useAsked(tab: string): [URLSearchParams, (changes: Record<string, string | null>) => void] {
  const [now, setNow] = useState(asked);
  useEffect(() => {
    const follow = () => setNow(asked());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const change = (changes: Record<string, string | null>) => {
    history.replaceState(null, "", addressOf(tab, { ...Object.fromEntries(asked()), ...changes }));
    setNow(asked());
  };
  return [now, change];
}

export const kernelAddress = (name: string): string => addressOf("kernels", { kernel: name });
export const operationAddress = (row: { name: string; kind: string }): string => addressOf("overview", { operation: row.name, kind: row.kind });
export const spanAddress = (span: number): string => addressOf("timeline", { span: String(span) });
// The GPU work of a rank in its run; null where it is not on the timeline.
export function rankAddress({ part, device, window }: Rank): string | null {
  if (part === null || window === null) return null;
  return addressOf("timeline", { mark: window.join("-"), rank: String(part), gpu: device === null ? null : String(device) });
}
export const stretchAddress = (from: number, to: number): string => addressOf("timeline", { from: String(Math.round(from)), to: String(Math.round(to)) });
