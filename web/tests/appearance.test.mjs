import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { overflow, start } from "./browser.mjs";
import { trainingSnapshot } from "./snapshot.mjs";
import { trainingTrace } from "./traces.mjs";

let stage;
let report;
before(async () => {
  stage = await start();
  report = await stage.report("training", trainingTrace());
});
after(() => stage.close());

const tabsOf = (page) => page.getByRole("tab").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
async function show(page, href) {
  await page.evaluate((hash) => { location.hash = hash; }, href);
  await page.locator(`[role=tab][aria-selected=true][href="${href}"]`).waitFor();
  await page.locator("#view > :not([aria-busy])").first().waitFor();
}

const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const kLight = "rgb(247, 248, 250)";
const kDark = "rgb(15, 18, 22)";

test("light or dark as the system has it, and as the reader chooses", async () => {
  const light = await stage.open(report, { colorScheme: "light" });
  assert.equal(await background(light), kLight);
  await light.finish();
  const dark = await stage.open(report, { colorScheme: "dark" });
  assert.equal(await background(dark), kDark);
  await dark.getByRole("button", { name: "Light" }).click();
  assert.equal(await background(dark), kLight);
  await dark.reload();
  await dark.locator("h1").waitFor();
  assert.equal(await background(dark), kLight, "the choice is kept");
  await dark.finish();
});

test("every tab fits a narrow window", async () => {
  const page = await stage.open(report, { viewport: { width: 360, height: 740 } });
  for (const href of await tabsOf(page)) {
    await show(page, href);
    assert.equal(await overflow(page), 0, `${href} is wider than the window`);
  }
  await page.finish();
});

test("a narrow table has the figures that matter, without scrolling", async () => {
  const page = await stage.open(report, { hash: "#kernels", viewport: { width: 420, height: 740 } });
  assert.deepEqual(await page.locator("th").allInnerTexts(), ["kernel", "sum ↓", "share"]);
  assert.equal(await page.locator(".scroller").evaluate((element) => element.scrollWidth - element.clientWidth), 0);
  await page.setViewportSize({ width: 1200, height: 740 });
  await page.locator("th").nth(9).waitFor();
  assert.equal(await page.locator("th").count(), 10);
  await page.finish();
});

test("on paper there is no furniture, and no dark", async () => {
  const page = await stage.open(report, { colorScheme: "dark" });
  await page.emulateMedia({ media: "print" });
  await page.waitForTimeout(100);
  assert.equal(await background(page), "rgb(255, 255, 255)");
  assert.equal(await page.locator("nav").isVisible(), false);
  assert.equal(await page.getByRole("searchbox").first().isVisible(), false);
  assert.ok(await page.locator("h1").isVisible());
  const pdf = await page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 4).toString(), "%PDF");
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g).length;
  assert.ok(pages >= 1 && pages <= 4, `${pages} pages`);
  await page.finish();
});

// All pages that a report can be, by what they are about.
async function everyPage() {
  const run = (slow) => ({ traceEvents: [1, 2, 3].map((at) => ({ ph: "X", cat: "cpu_op", name: "op", pid: 1, tid: 1, ts: at * 1000, dur: at * slow })) });
  return {
    training: report,
    ranks: await stage.ranksReport("ranks", [trainingTrace(), trainingTrace()]),
    snapshot: await stage.pageOfFile("memory", "snapshot.pickle", trainingSnapshot()),
    comparison: await stage.comparison("compared", [run(100)], [run(200)]),
  };
}

// What a pointer can press is, holds or is within what Tab comes to: of a row, its name.
test("Tab comes to all that can be pressed, and all of it has a name", async () => {
  for (const [what, path] of Object.entries(await everyPage())) {
    const page = await stage.open(path);
    for (const href of await tabsOf(page)) {
      await show(page, href);
      const [wanted, nameless] = await page.evaluate(() => {
        const kFocusable = "a[href], button:not(:disabled), input:not([type=file]), select, summary, [tabindex='0']";
        const isSeen = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
        const all = [...document.querySelectorAll(kFocusable)].filter(isSeen);
        all.forEach((element, at) => { element.dataset.at = String(at); });
        const pressed = [...document.querySelectorAll("body *")].filter((element) => isSeen(element) && getComputedStyle(element).cursor === "pointer" && getComputedStyle(element.parentElement).cursor !== "pointer");
        const lost = pressed.filter((element) => !element.closest(kFocusable) && !element.querySelector(kFocusable)).map((element) => element.outerHTML.slice(0, 120));
        const nameOf = (element) => element.getAttribute("aria-label") || element.innerText?.trim() || element.labels?.[0]?.innerText || "";
        const named = [...all, ...document.querySelectorAll("[role=img], [role=region], [role=group], [role=search] input, table + *, dialog")].filter(isSeen);
        return [{ count: all.length, lost }, named.filter((element) => !nameOf(element)).map((element) => element.outerHTML.slice(0, 120))];
      });
      assert.deepEqual(wanted.lost, [], `${what} ${href}: no key presses these`);
      assert.deepEqual(nameless, [], `${what} ${href}: these have no name`);
      await page.evaluate(() => document.activeElement.blur());
      const seen = new Set();
      for (let tries = 0; tries < wanted.count + 4; ++tries) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate(() => {
          const { dataset } = document.activeElement;
          return [dataset.at, getComputedStyle(document.activeElement).outlineStyle];
        });
        if (at[0] === undefined) continue;
        seen.add(at[0]);
        assert.equal(at[1], "solid", `${what} ${href}: what has the focus is seen`);
      }
      assert.equal(seen.size, wanted.count, `${what} ${href}`);
    }
    await page.finish();
  }
});

test("help lists the keys, and a field takes what is typed", async () => {
  const page = await stage.open(report);
  await page.keyboard.press("?");
  const keys = await page.getByRole("dialog").locator("kbd").allInnerTexts();
  for (const key of ["/", "?", "W", "A", "S", "D", "0", "R", "M", "T", "F", "O", "P", ",", ".", "[", "]", "Enter", "Esc"]) assert.ok(keys.includes(key), key);
  await page.keyboard.press("Escape");
  assert.equal(await page.getByRole("dialog").isVisible(), false);
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.type), "search");
  await page.keyboard.type("1");
  assert.equal(await page.evaluate(() => location.hash), "", "a digit in a field is text");
  await page.finish();
});

test("a chart is read by arrow keys", async () => {
  const page = await stage.open(report, { hash: "#memory" });
  const chart = page.locator(".chart canvas").first();
  await chart.focus();
  for (const key of ["ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  assert.match(await page.locator(".chart [aria-live]").first().innerText(), /\d MB/);
  await page.finish();
});
