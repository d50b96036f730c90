import { csvOf, type Cell } from "./csv";
import { colour } from "./theme";

// What can be saved from the page: a table as CSV, a drawing as PNG. One button for all; it stays in the background until it
// is needed.
export function SaveButton(props: { kind: "CSV" | "PNG"; what: string; save: () => void }) {
  return (
    <button type="button" class="tool save" title={`Save ${props.what} as ${props.kind}`} aria-label={`Save ${props.what} as ${props.kind}`} onClick={props.save}>
      {props.kind}
    </button>
  );
}

export function saveTable(what: string, rows: readonly (readonly Cell[])[]): void {
  saveBlob(`${fileName(what)}.csv`, new Blob([csvOf(rows)], { type: "text/csv" }));
}

const kLine = 24; // of words, in pixels of the page
const kMargin = 12;

// As it is on the page: on the colour of its panel, under its title, over its legend.
export function saveDrawing(what: string, canvas: HTMLCanvasElement): void {
  const panel = canvas.closest(".panel, .drawing");
  const items = [...(panel?.querySelectorAll<HTMLElement>(".legend > *") ?? [])];
  const scale = canvas.width / Math.max(1, canvas.clientWidth);
  const picture = document.createElement("canvas");
  const context = picture.getContext("2d");
  if (!context) return;
  const rows = legendRows(context, items, canvas.clientWidth - 2 * kMargin);
  [picture.width, picture.height] = [canvas.width, canvas.height + Math.round(scale * (2 * kMargin + kLine * (1 + rows.length)))];
  context.fillStyle = colour("panel");
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(canvas, 0, Math.round(scale * (kMargin + kLine)));
  context.scale(scale, scale);
  context.textBaseline = "middle";
  context.font = font(600);
  context.fillStyle = colour("ink-2");
  context.fillText(panel?.querySelector("h2")?.textContent ?? what, kMargin, kMargin + kLine / 2 - 2);
  context.font = font(400);
  rows.forEach((row, line) => {
    const y = kMargin + kLine * (line + 1.5) + canvas.clientHeight;
    for (const { text, fill, x } of row) {
      context.fillStyle = fill;
      context.fillRect(kMargin + x, y - 5, 9, 9);
      context.fillStyle = colour("ink-2");
      context.fillText(text, kMargin + x + 15, y);
    }
  });
  picture.toBlob((png) => png && saveBlob(`${fileName(what)}.png`, png));
}

const font = (weight: number): string => `${weight} 12.5px ${getComputedStyle(document.body).fontFamily}`;

// The entries of a legend, as many to a row as there is room for.
function legendRows(context: CanvasRenderingContext2D, items: HTMLElement[], width: number): { text: string; fill: string; x: number }[][] {
  context.font = font(400);
  const rows: { text: string; fill: string; x: number }[][] = [];
  let x = width;
  for (const item of items) {
    const text = item.innerText.trim();
    const needs = context.measureText(text).width + 32;
    if (x + needs > width || rows.length === 0) {
      rows.push([]);
      x = 0;
    }
    rows.at(-1)!.push({ text, fill: getComputedStyle(item.querySelector("i") ?? item).backgroundColor, x });
    x += needs;
  }
  return rows;
}

// "train.json · Fathom" and "kernels": train.json-kernels.
const fileName = (what: string): string =>
  `${document.title.replace(/ · Fathom$/, "")}-${what}`.replace(/[^\w.-]+/g, "_").slice(0, 120);

function saveBlob(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser may ask where to before it reads
}
