// Shades of a colour that one colour of letters can be read on. Colours are as getComputedStyle gives them: "rgb(0, 103, 177)".

type Rgb = readonly [number, number, number];

export interface Shaded {
  shades: string[]; // the colour itself first, then so that neighbours can be told apart
  letters: string; // readable on each of them
}

export const kReadable = 4.5; // to 1: WCAG AA, of small letters
const kWideShades = 3;
const kStep = 0.11;
const kNudge = 0.01;

// The letters are the page's ink or its paper, paper where either would do. Shades go away from the letters, so that each is
// read as well as the colour itself, which moves the same way until it can be read.
export function shadesOf(fill: string, ink: string, paper: string): Shaded {
  const letters = contrast(ink, fill) > contrast(paper, fill) * 1.4 ? ink : paper;
  const away: Rgb = luminance(rgbOf(letters)) > luminance(rgbOf(fill)) ? [0, 0, 0] : [255, 255, 255];
  let share = 0;
  while (share < 1 && contrast(letters, mixed(fill, away, share)) < kReadable) share += kNudge;
  return { shades: Array.from({ length: kWideShades }, (_, step) => mixed(fill, away, Math.min(1, share + step * kStep))), letters };
}

// `share` of another colour, the rest of this one.
export function mixed(fill: string, other: Rgb | string, share: number): string {
  const [from, to] = [rgbOf(fill), typeof other === "string" ? rgbOf(other) : other];
  return `rgb(${from.map((value, at) => Math.round(value + (to[at]! - value) * share)).join(", ")})`;
}

export function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(rgbOf(a)), luminance(rgbOf(b))].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const rgbOf = (text: string): Rgb => (text.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number) as unknown as Rgb;

function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
