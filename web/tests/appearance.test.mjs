import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { overflow, start } from "./browser.mjs";
import { trainingTrace } from "./traces.mjs";

let stage;
let report;
before(async () => {
  stage = await start();
  report = await stage.report("training", trainingTrace());
});
after(() => stage.close());

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
  for (const key of ["1", "2", "3", "4", "5", "6", "7", "8"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(50);
    assert.equal(await overflow(page), 0, `tab ${key} is wider than the window`);
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

test("the keyboard reaches everything, and ? says how", async () => {
  const page = await stage.open(report);
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("this help").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.getByRole("dialog").isVisible(), false);
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.type), "search");
  await page.keyboard.type("1");
  assert.equal(await page.evaluate(() => location.hash), "", "a digit in a field is text");
  await page.keyboard.press("Escape");
  await page.locator("[role=tab]").first().focus();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "solid");
  await page.finish();
});
