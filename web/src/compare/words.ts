import { formatDuration } from "../format";
import type { Verdict } from "./data";

// Signs as the terminal writes them, with a minus that is as wide as the plus.
const signed = (value: number, text: string): string => `${value < 0 ? "−" : "+"}${text}`;

export const signedPercent = (pct: number): string => {
  const rounded = Math.round(pct * 10) / 10;
  return signed(rounded, `${Math.abs(rounded).toFixed(1)} %`);
};

export const signedDuration = (ns: number): string => signed(ns, formatDuration(Math.abs(ns)));

// Which way a verdict points: its colour everywhere on this tab.
export type Tone = "slower" | "faster" | "open" | "still";

const kTones: Record<Verdict, Tone> = {
  SLOWER: "slower", new: "open", faster: "faster", gone: "open",
  suspect: "open", unstable: "open", inconclusive: "still", same: "still",
};

// What is suspect points the way it went.
export const toneOf = (verdict: Verdict, changePct: number | null): Tone =>
  verdict === "suspect" && changePct !== null ? (changePct > 0 ? "slower" : "faster") : kTones[verdict];
