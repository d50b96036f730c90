import type { Part } from "../summary";
import { colour } from "../theme";

// Colours that canvases draw with, as the page has them now.
export interface Palette {
  parts: string[]; // by index of kParts
  ink: string;
  ink2: string;
  ink3: string;
  line: string;
  panel: string;
  background: string;
  hover: string;
  mark: string; // what was searched for
}

export const kParts: readonly Part[] = ["gpu", "comm", "transfer", "overhead", "cpu", "idle"];

export const partIndex = (part: string): number => Math.max(0, kParts.indexOf(part as Part));

export const currentPalette = (): Palette => ({
  parts: kParts.map((part) => colour(part)),
  ink: colour("ink"),
  ink2: colour("ink-2"),
  ink3: colour("ink-3"),
  line: colour("line"),
  panel: colour("panel"),
  background: colour("bg"),
  hover: colour("hover"),
  mark: colour("bad"),
});
