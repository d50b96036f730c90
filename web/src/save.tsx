import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import { csvOf, type Cell } from "./csv";
import { colour } from "./theme";

// What can be saved from the page: a table as CSV, a drawing as PNG. One button for all; it stays in the background until it
// is needed.
export function SaveButton(props: { kind: "CSV" | "PNG"; what: string; save: () => void; button?: RefObject<HTMLButtonElement | null> }) {
  return (
    <button ref={props.button ?? null} type="button" class="tool save" title={`Save ${props.what} as ${props.kind}`} aria-label={`Save ${props.what} as ${props.kind}`} onClick={props.save}>
      {props.kind}
    </button>
  );
}

export function saveTable(what: string, rows: readonly (readonly Cell[])[]): void {
  saveBlob(`${fileName(what)}.csv`, new Blob([csvOf(rows)], { type: "text/csv" }));
}

// In a panel whose drawing is not one canvas alone.
export function SavePanelButton({ what }: { what: string }) {
  const button = useRef<HTMLButtonElement>(null);
  return <SaveButton kind="PNG" what={what} button={button} save={() => void savePicture(what, button.current!.closest<HTMLElement>(".panel")!)} />;
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

// A part of the page as it is seen, canvases and all.
export async function savePicture(what: string, element: HTMLElement): Promise<void> {
  const box = element.getBoundingClientRect();
  const scale = devicePixelRatio || 1;
  const words = new XMLSerializer().serializeToString(withStyles(element));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${box.width * scale}" height="${box.height * scale}" viewBox="0 0 ${box.width} ${box.height}">` +
    `<foreignObject width="100%" height="100%">${words}</foreignObject></svg>`,
  )}`;
  await image.decode();
  const picture = document.createElement("canvas");
  [picture.width, picture.height] = [Math.round(box.width * scale), Math.round(box.height * scale)];
  const context = picture.getContext("2d")!;
  context.fillStyle = colour("panel");
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(image, 0, 0);
  context.scale(scale, scale);
  for (const canvas of element.querySelectorAll("canvas")) {
    const at = canvas.getBoundingClientRect();
    context.drawImage(canvas, at.x - box.x, at.y - box.y, at.width, at.height);
  }
  picture.toBlob((png) => png && saveBlob(`${fileName(what)}.png`, png));
}

// A copy that looks the same where the page's style sheet does not reach, without what saves.
function withStyles(element: Element, isOuter = true): Element {
  const copy = element.cloneNode(false) as HTMLElement;
  const style = getComputedStyle(element);
  copy.setAttribute("style", `${Array.from(style, (name) => `${name}:${style.getPropertyValue(name)}`).join(";")}${isOuter ? ";margin:0" : ""}`);
  for (const child of element.childNodes) {
    if (child instanceof Element) {
      if (!child.classList.contains("save")) copy.append(withStyles(child, false));
    } else {
      copy.append(child.cloneNode());
    }
  }
  return copy;
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
