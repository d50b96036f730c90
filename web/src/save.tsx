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

// On the colour of the page's panels: a canvas is transparent, and light letters on white cannot be read.
export function saveDrawing(what: string, canvas: HTMLCanvasElement): void {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const context = copy.getContext("2d");
  if (!context) return;
  context.fillStyle = colour("panel");
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0);
  copy.toBlob((png) => png && saveBlob(`${fileName(what)}.png`, png));
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
