import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { drop, frame, start } from "./browser.mjs";
import { evilNames, profile, trainingTrace } from "./traces.mjs";

let stage;
let report;
before(async () => {
  stage = await start();
  report = await stage.report("training", trainingTrace());
});
after(() => stage.close());

test("a profile dropped onto the page opens in it, and the report is a click away", async () => {
  const page = await stage.open(report, { hash: "#kernels" });
  await drop(page, "mine.json", JSON.stringify(profile()));
  await page.getByText("The GPU worked 60.0 % of 10.0 ms").waitFor();
  assert.match(await page.locator("header").innerText(), /\.\/service/);
  assert.match(await page.locator(".finding").first().innerText(), /70\.0 %[\s\S]*infer/);
  assert.deepEqual(await page.getByRole("tab").allInnerTexts(), ["Overview", "Timeline", "Flame", "Memory"]);
  await page.keyboard.press("4");
  await page.getByText("20 MB").first().waitFor();
  await page.getByRole("button", { name: "Back to the report" }).click();
  await page.keyboard.press("1");
  await page.getByText("The GPU computed").waitFor();
  await page.finish();
});

test("a profile may be chosen, packed, bare or a summary alone", async () => {
  const page = await stage.open(report);
  const choose = async (name, bytes) => {
    const path = join(stage.folder, name);
    await writeFile(path, bytes);
    await page.locator("header input[type=file]").setInputFiles(path);
  };
  await choose("packed.json.gz", gzipSync(JSON.stringify(profile())));
  await page.getByText("The GPU worked 60.0 %").waitFor();
  await choose("bare.json", JSON.stringify([{ operation: "alone", duration_ms: 3 }]));
  await page.getByText("alone took 100.0 % of the time").waitFor();
  await choose("summary.json", JSON.stringify({ summary: profile().summary }));
  await page.getByText("a summary without entries").waitFor();
  await choose("nan.json", '{"entries": [{"operation": "nan", "duration_ms": 2, "gpu_time_ms": NaN}]}');
  await page.getByText("nan took 100.0 %").waitFor();
  await page.finish();
});

test("what is no profile is refused in a sentence, and the page stays", async () => {
  const page = await stage.open(report);
  for (const [name, text, words] of [
    ["photo.png", "\u0089PNG", "not JSON"],
    ["other.json", '{"a": 1}', "neither entries nor a summary"],
    ["trace.json", JSON.stringify(trainingTrace()), "This is a trace, not a profile. To open it: fathom open trace.json"],
    ["bare trace.json", JSON.stringify(trainingTrace().traceEvents), "To open it: fathom open 'bare trace.json'"],
    ["run.pftrace", "\n\u0001\u0002", "If it is a trace: fathom open run.pftrace"],
  ]) {
    await drop(page, name, text);
    await page.getByRole("alert").getByText(words).waitFor();
    assert.match(await page.getByRole("alert").innerText(), new RegExp(name));
    assert.match(await page.locator("h1").innerText(), /The GPU computed/);
  }
  await page.finish();
});

test("names in a dropped profile are text", async () => {
  const page = await stage.open(report);
  await drop(page, "<img src=x onerror=window.evil=1>.json", JSON.stringify({ entries: evilNames.map((operation) => ({ operation, duration_ms: 1 })) }));
  await page.getByText(evilNames[0]).first().waitFor();
  await page.finish();
});

test("a page without a report welcomes, and has a demo", async () => {
  const page = await stage.open(stage.emptyPage());
  await page.getByText("Drop a profile here.").waitFor();
  await page.getByRole("button", { name: "Show the demo" }).click();
  await page.getByText("The GPU worked").waitFor();
  await page.finish();
});

test("the demo has a timeline, a flame graph, suggestions and the mean time and calls", async () => {
  const page = await stage.open(stage.emptyPage());
  await page.getByRole("button", { name: "Show the demo" }).click();
  assert.match(await page.locator("canvas[aria-label^='Mean time and calls']").getAttribute("aria-label"), /infer 6\.\d ms, 40 calls/);
  const legend = await page.locator(".legend").nth(1).innerText();
  assert.match(legend, /GPU/);
  assert.doesNotMatch(legend, /ms/, "a scope is inside another: a sum would count its time twice");
  await page.keyboard.press("2");
  assert.ok((await frame(page)).rectangles >= 40);
  assert.match(await page.locator(".drawing").innerText(), /200 spans/);
  await page.keyboard.press("3");
  assert.match(await page.locator("canvas").getAttribute("aria-label"), /Flame graph of 6 call paths/);
  await page.keyboard.press("5");
  assert.match(await page.locator(".suggestion").first().innerText(), /saves at most [\d.]+ %[\s\S]*Batch|Keep/);
  await page.finish();
});

// What is drawn of a dropped profile is what a page of it has.
test("a dropped profile has the spans and call paths of its written page", async () => {
  const path = await stage.report("profile", profile());
  const written = await stage.open(path, { hash: "#timeline" });
  const dropped = await stage.open(stage.emptyPage());
  await drop(dropped, "profile.json", JSON.stringify(profile()));
  await dropped.getByText("The GPU worked").waitFor();
  const seen = async (page, tab) => {
    await page.evaluate((hash) => { location.hash = hash; }, tab);
    await page.locator(".drawing canvas").waitFor();
    return page.locator("canvas").getAttribute("aria-label");
  };
  for (const tab of ["#timeline", "#flame"]) assert.equal(await seen(dropped, tab), await seen(written, tab));
  await written.finish();
  await dropped.finish();
});
