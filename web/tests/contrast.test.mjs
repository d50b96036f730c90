// Every word on every tab can be read: 4.5 to 1 at least against what lies behind it, 3 to 1 where letters are large; light,
// dark and on a phone.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { start } from "./browser.mjs";
import { contrastFaults } from "./contrast.mjs";
import { load } from "./source.mjs";
import { trainingSnapshot } from "./snapshot.mjs";
import { loadingTrace, shapedTrace, trainingTrace } from "./traces.mjs";

let stage;
before(async () => {
  stage = await start();
});
after(() => stage.close());

// A call that takes so long, and one that takes as long as ever.
const run = (length, at = 0) => ({
  traceEvents: Array.from({ length: 40 }, (_, i) => [
    { ph: "X", cat: "cpu_op", name: "changed", pid: 1, tid: 1, ts: i * 3000, dur: length + ((i * 7 + at * 3) % 11) },
    { ph: "X", cat: "cpu_op", name: "other", pid: 1, tid: 1, ts: i * 3000 + 2000, dur: 500 + ((i * 5 + at) % 7) },
    ...(length > 1000 ? [] : [{ ph: "X", cat: "cpu_op", name: "added", pid: 1, tid: 1, ts: i * 3000 + 2600, dur: 100 }]),
  ]).flat(),
});

const kWindows = [
  { colorScheme: "light" },
  { colorScheme: "dark" },
  { colorScheme: "dark", viewport: { width: 390, height: 800 } },
];

async function readable(path, what) {
  const faults = [];
  for (const options of kWindows) {
    const page = await stage.open(path, options);
    for (const href of await page.getByRole("tab").evaluateAll((links) => links.map((link) => link.getAttribute("href")))) {
      await page.evaluate((hash) => { location.hash = hash; }, href);
      await page.locator(`[role=tab][aria-selected=true][href="${href}"]`).waitFor();
      await page.locator("#view > :not([aria-busy])").first().waitFor();
      await open(page, href);
      for (const fault of await contrastFaults(page)) faults.push([what, href, options.colorScheme, page.viewportSize().width, ...fault]);
    }
    await page.finish();
  }
  assert.deepEqual(faults, []);
}

// What is not there before something is chosen: a span's details and what ran in a range, the stacks of a place in memory.
async function open(page, href) {
  if (href === "#timeline") {
    await page.locator("#view canvas").press("Enter");
    await page.locator(".details").first().waitFor();
    await page.keyboard.press("r");
    await page.locator(".selection").waitFor();
  }
  if (["#memory", "#kernels"].includes(href)) await page.locator("#view .choosable .row-name").first().press("Enter");
}

test("every tab of a run can be read", async () => {
  await readable(await stage.report("training", trainingTrace()), "training");
  await readable(await stage.report("loading", loadingTrace()), "loading");
  await readable(await stage.report("shaped", shapedTrace()), "shaped");
});

test("memory by owner, with stacks, can be read", async () => {
  await readable(await stage.pageOfFile("memory", "snapshot.pickle", trainingSnapshot()), "snapshot");
});

test("the ranks and a comparison can be read", async () => {
  await readable(await stage.ranksReport("ranks", [trainingTrace(), trainingTrace()]), "ranks");
  const five = (length) => [0, 1, 2, 3, 4].map((at) => run(length, at));
  await readable(await stage.comparison("compared", five(1500), five(900)), "faster");
  await readable(await stage.comparison("slower", [run(900)], [run(1500)]), "suspect");
});

// Names stand on shades of these, so that neighbours of one colour can be told apart.
test("letters on the canvases can be read on every shade of every colour", async () => {
  const { contrast, kReadable, shadesOf } = await load("canvas/shades.ts");
  const { kFills } = await load("classes.ts");
  const { changeFills } = await load("compare/colours.ts");
  const css = await readFile(new URL("../src/styles.css", import.meta.url), "utf8");
  for (const scheme of [0, 1]) {
    const colour = (token) => {
      const hex = new RegExp(`--${token}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(css)[scheme + 1];
      const digits = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit) : hex.slice(1).match(/../g);
      return `rgb(${digits.map((each) => parseInt(each, 16)).join(", ")})`;
    };
    const fills = [...kFills.map((fill) => [fill, colour(fill)]), ...changeFills(colour("bad"), colour("gpu"), colour("idle")).map((fill, at) => [`change ${at}`, fill])];
    for (const [name, fill] of fills) {
      const { shades, letters } = shadesOf(fill, colour("ink"), colour("panel"));
      assert.equal(new Set(shades).size, 3, `${name}: neighbours can be told apart`);
      for (const shade of shades) assert.ok(contrast(letters, shade) >= kReadable, `${name} ${shade}: ${contrast(letters, shade).toFixed(2)}`);
    }
    for (const token of ["ink", "ink-2", "ink-3"]) for (const paper of ["panel", "bg"]) assert.ok(contrast(colour(token), colour(paper)) >= kReadable, `${token} on ${paper}`);
  }
});
