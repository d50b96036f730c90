// How fast a large report opens and moves: node page.mjs REPORT.html SPANS
//
// Open: from the start of the navigation to the first frame of the timeline; the floor is a page of
// the same size that does nothing. Frames: from one animation frame to the next while each of them
// zooms or moves; the floor is the same page at rest. Range summed: from the key that selects everything to its sums; the floor goes
// over as many numbers thrice. Table frames: while each scrolls through the launches of the kernel that is called most. All are medians.
import { existsSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [report, spansText] = process.argv.slice(2);
const spans = Number(spansText);
const executablePath = process.env.FATHOM_CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
const kRounds = 5;
const kShortRounds = 4; // of 60 frames

const print = (name, value, floor, unit, limit) => {
  const digits = unit === "s" ? 3 : 1;
  console.log(`  limit ${limit} ${unit}`);
  console.log(`${name}: ${value.toFixed(digits)} ${unit}, floor ${floor.toFixed(digits)} ${unit}, ratio ${(value / floor).toFixed(2)}`);
};
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const p95 = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.95)];

const folder = await mkdtemp(join(tmpdir(), "fathom-bench-"));
const { size } = await stat(report);
const blank = join(folder, "blank.html");
await writeFile(blank, `<!doctype html><title>blank</title><script type="text/plain">${"A".repeat(size)}</script>`);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

async function open(path, hash, ready) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  await page.goto(pathToFileURL(path).href + hash);
  for (;;) {
    const ms = await page.evaluate(ready);
    if (ms) return { page, seconds: ms / 1e3 };
    await page.waitForTimeout(20);
  }
}
const drawn = () => performance.getEntriesByName("timeline drawn")[0]?.startTime;
const loaded = () => performance.getEntriesByType("navigation")[0]?.loadEventStart || undefined;

// Runs in the page: frame intervals in ms while `act` happens in each.
const intervals = (moves) => new Promise((resolve) => {
  const canvas = document.querySelector("canvas");
  const box = canvas.getBoundingClientRect();
  const times = [];
  const step = (time) => {
    times.push(time);
    if (times.length > 60) return resolve(times.slice(1).map((at, i) => at - times[i]));
    const n = times.length;
    if (moves) {
      const zoom = { deltaY: n % 60 < 30 ? -60 : 60 };
      const pan = { deltaX: n % 40 < 20 ? 40 : -40 };
      canvas.dispatchEvent(new WheelEvent("wheel", { ...(n % 3 === 0 ? pan : zoom), clientX: box.left + 300 + (n * 4) % 700, clientY: box.top + 200, cancelable: true }));
    }
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
});

// Runs in the page: how long it takes to sum up everything, in ms, and to go over as many numbers thrice.
const summing = async (spans) => {
  document.querySelector("canvas").dispatchEvent(new KeyboardEvent("keydown", { key: "r", bubbles: true }));
  while (performance.getEntriesByName("selection summed").length === 0) await new Promise((done) => setTimeout(done, 5));
  document.querySelector("canvas").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  const numbers = new Float64Array(spans).fill(1.5);
  const begin = performance.now();
  let sum = 0;
  for (let pass = 0; pass < 3; ++pass) for (let i = 0; i < spans; ++i) sum += numbers[i];
  const floor = performance.now() - begin;
  return { floor: sum > 0 ? floor : 0, took: performance.getEntriesByName("selection summed").at(-1).duration };
};

// Runs in the page: frame intervals in ms while the list of launches scrolls by a third of its height or less, down and up.
const scrolling = () => new Promise((resolve) => {
  const list = document.querySelector(".scroller[aria-label=launches]");
  const times = [];
  const step = (time) => {
    times.push(time);
    if (times.length > 60) return resolve(times.slice(1).map((at, i) => at - times[i]));
    list.scrollTop += times.length % 20 < 10 ? 120 * times.length : -90 * times.length;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
});

const opened = [];
const floor = [];
const moving = [];
const resting = [];
const sums = [];
const tables = [];
let rows = 0;
for (let round = 0; round < kRounds; ++round) {
  const empty = await open(blank, "", loaded);
  floor.push(empty.seconds);
  await empty.page.close();
  const { page, seconds } = await open(report, "#timeline", drawn);
  opened.push(seconds);
  for (let short = 0; short < kShortRounds; ++short) {
    resting.push(p95(await page.evaluate(intervals, false)));
    moving.push(p95(await page.evaluate(intervals, true)));
  }
  sums.push(await page.evaluate(summing, spans));
  await page.close();
  const kernels = await open(report, "#kernels", () => document.querySelector("tbody .row-name") && performance.now());
  await kernels.page.getByRole("button", { name: "calls" }).first().click();
  await kernels.page.locator("tbody .row-name").first().click();
  const list = kernels.page.locator(".scroller[aria-label=launches] table");
  rows = Number(await list.getAttribute("aria-rowcount")) - 1;
  for (let short = 0; short < kShortRounds; ++short) tables.push(p95(await kernels.page.evaluate(scrolling)));
  await kernels.page.close();
}
await browser.close();
await rm(folder, { recursive: true });

console.log(`${spans} spans, ${(size / 1e6).toFixed(1)} MB, ${kRounds} rounds: medians, of ${kRounds * kShortRounds} short ones for frames`);
print("page size", size / spans, 3, "bytes per span", 3);
print("page open", median(opened), median(floor), "s", 1);
console.log(`  frames p95 of all rounds: ${moving.map((ms) => ms.toFixed(0)).sort((a, b) => a - b).join(" ")} ms`);
print("page frame p95", median(moving), median(resting), "ms", 17);
console.log(`  ${rows} rows`);
print("page table frame p95", median(tables), median(resting), "ms", 17);
print("page range summed", median(sums.map(({ took }) => took)), median(sums.map(({ floor }) => floor)), "ms", 50);
