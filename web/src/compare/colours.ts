import { mixed } from "../canvas/shades";

// Colours of a change by the index that Tree.parts has: kParts has as many, and its last is grey too.
const kColours = ["much slower", "slower", "faster", "much faster", "gone", "about the same"] as const;
type Colour = (typeof kColours)[number];

const kSome = 0.05;
const kMuch = 0.3;

function colourOf(base: number, current: number): Colour {
  if (base === 0 && current > 0) return "much slower";
  if (base > 0 && current === 0) return "gone";
  const change = base > 0 ? current / base - 1 : 0;
  if (Math.abs(change) < kSome) return "about the same";
  if (change > 0) return change > kMuch ? "much slower" : "slower";
  return change < -kMuch ? "much faster" : "faster";
}

const kWeak = 0.6; // of grey

// In the order of kColours.
export const changeFills = (slower: string, faster: string, still: string): string[] =>
  [slower, mixed(slower, still, kWeak), mixed(faster, still, kWeak), faster, faster, still];

export const colourIndex = (base: number, current: number): number => kColours.indexOf(colourOf(base, current));
