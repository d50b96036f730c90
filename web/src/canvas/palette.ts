import { kFills } from "../classes";
import { colour } from "../theme";

export { fillIndex, kFills, kParts, partIndex } from "../classes";

// Colours that canvases draw with, as the page has them now.
export interface Palette {
  parts: string[]; // by index of kFills
  letters: string[]; // what is readable on each
  ink: string;
  ink2: string;
  ink3: string;
  line: string;
  panel: string;
  background: string;
  hover: string;
  mark: string; // what was searched for
}

export const currentPalette = (): Palette => ({
  parts: kFills.map((fill) => colour(fill)),
  letters: kFills.map((fill) => readableOn(colour(fill))),
  ink: colour("ink"),
  ink2: colour("ink-2"),
  ink3: colour("ink-3"),
  line: colour("line"),
  panel: colour("panel"),
  background: colour("bg"),
  hover: colour("hover"),
  mark: colour("bad"),
});

// The page's ink or paper, whichever is easier to read on a colour ("rgb(0, 103, 177)").
function readableOn(background: string): string {
  const [ink, paper] = [colour("ink"), colour("panel")];
  return contrast(ink, background) > contrast(paper, background) * 1.4 ? ink : paper;
}

const contrast = (a: string, b: string): number => {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
};

function luminance(rgb: string): number {
  const [red, green, blue] = (rgb.match(/[\d.]+/g) ?? []).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}
