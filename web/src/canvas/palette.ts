import { kFills } from "../classes";
import { colour } from "../theme";
import { shadesOf, type Shaded } from "./shades";

export { fillIndex, kFills, kParts, partIndex } from "../classes";

// Colours that canvases draw with, as the page has them now.
export interface Palette {
  parts: Shaded[]; // by index of kFills
  ink: string;
  ink2: string;
  ink3: string;
  line: string;
  panel: string;
  background: string;
  hover: string;
  mark: string; // what was searched for
}

export const currentPalette = (): Palette => paletteOf(kFills.map((fill) => colour(fill)));

// With other colours of what is drawn.
export const paletteOf = (fills: string[]): Palette => ({
  parts: fills.map((fill) => shadesOf(fill, colour("ink"), colour("panel"))),
  ink: colour("ink"),
  ink2: colour("ink-2"),
  ink3: colour("ink-3"),
  line: colour("line"),
  panel: colour("panel"),
  background: colour("bg"),
  hover: colour("hover"),
  mark: colour("bad"),
});
