import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { frame, start } from "./browser.mjs";
import { load } from "./source.mjs";
import { evilNames, namesTrace, trainingTrace } from "./traces.mjs";

let stage;
before(async () => {
  stage = await start();
});
after(() => stage.close());

async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

test("a table is saved as CSV: what is shown of it, in whole nanoseconds", async () => {
  const page = await stage.open(await stage.report("training", trainingTrace()), { hash: "#kernels" });
  await page.getByRole("searchbox").fill("nccl");
  const { name, bytes } = await saved(page, page.getByRole("button", { name: "Save kernels as CSV" }));
  assert.equal(name, "training.json-kernels.csv");
  const [head, row, ...rest] = bytes.toString().trimEnd().split("\r\n");
  assert.match(head, /^kernel,class,calls,sum \(ns\),mean \(ns\)/);
  assert.match(row, /^ncclKernel_AllReduce,communication,2,3000000,1500000/);
  assert.deepEqual(rest, []);
  await page.finish();
});

test("every table and every chart has its button", async () => {
  const page = await stage.open(await stage.report("all", trainingTrace()));
  for (const key of ["1", "4", "5"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(100);
    const counts = await page.evaluate(() => ({
      tables: document.querySelectorAll("#view table").length, csv: document.querySelectorAll("#view .save[aria-label$=CSV]").length,
      charts: document.querySelectorAll("#view .chart").length, png: document.querySelectorAll("#view .save[aria-label$=PNG]").length,
    }));
    assert.equal(counts.csv, counts.tables, `tables of tab ${key}`);
    assert.equal(counts.png, counts.charts, `charts of tab ${key}`);
  }
  await page.finish();
});

test("a chart is saved as PNG, with its title and legend", async () => {
  const page = await stage.open(await stage.report("chart", trainingTrace()), { colorScheme: "dark" });
  await page.getByText("Where the time went").hover();
  const { name, bytes } = await saved(page, page.getByRole("button", { name: "Save where the time went as PNG" }));
  assert.equal(name, "chart.json-where_the_time_went.png");
  assert.deepEqual([...bytes.subarray(1, 4)], [..."PNG"].map((letter) => letter.charCodeAt(0)));
  const canvas = await page.locator(".ring canvas").evaluate(({ width, height }) => ({ width, height }));
  assert.equal(bytes.readUInt32BE(16), canvas.width);
  assert.ok(bytes.readUInt32BE(20) > canvas.height + 40, "there is room for words");
  await page.finish();
});

test("the timeline and the flame graph are saved as they are drawn", async () => {
  const page = await stage.open(await stage.report("drawn", trainingTrace()), { hash: "#timeline" });
  for (const [key, name] of [["2", "timeline"], ["3", "flame"]]) {
    await page.keyboard.press(key);
    await frame(page);
    const picture = await saved(page, page.getByRole("button", { name: `Save the ${name} as PNG` }));
    assert.equal(picture.name, `drawn.json-${name}.png`);
    assert.equal(picture.bytes.readUInt32BE(16), await page.locator("#view canvas").first().evaluate((canvas) => canvas.width));
  }
  await page.finish();
});

test("names that a spreadsheet would run or cut are text", async () => {
  const { csvOf } = await load("csv.ts");
  assert.equal(csvOf([["=1+1", "a,b", 'say "hi"', "two\nlines", null, 1.5, Number.NaN]]), "'=1+1,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",,1.5,\r\n");
  const page = await stage.open(await stage.report("names", namesTrace()), { hash: "#kernels" });
  const { bytes } = await saved(page, page.getByRole("button", { name: "Save kernels as CSV" }));
  assert.ok(bytes.toString().includes(evilNames[0]), "whole, as it is in the trace");
  await page.finish();
});
