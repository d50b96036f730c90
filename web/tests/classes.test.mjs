import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "./browser.mjs";
import { manyKernelsTrace, shapedTrace, trainingTrace } from "./traces.mjs";

let stage;
let shaped;
before(async () => {
  stage = await start();
  shaped = await stage.report("shaped", shapedTrace());
});
after(() => stage.close());

test("the overview has the GPU time by class, and leads to its kernels", async () => {
  const page = await stage.open(shaped);
  const rows = page.locator(".class-row");
  assert.match((await rows.first().innerText()).replaceAll("\n", " "), /^GEMM 57\.1 % 12\.0 µs/);
  await rows.first().click();
  await page.locator("[role=tab][aria-selected=true][href='#kernels']").waitFor();
  assert.equal(await page.getByLabel("Class of GPU work").inputValue(), "gemm");
  assert.match(await page.getByRole("status").first().innerText(), /^1 kernel$/);
  await page.getByLabel("Class of GPU work").selectOption("");
  assert.match(await page.getByRole("status").first().innerText(), /^2 kernels$/);
  await page.finish();
});

test("kernels say what they achieved, and the roofline shows it", async () => {
  const page = await stage.open(shaped, { hash: "#kernels" });
  const first = await page.locator("tbody tr").first().innerText();
  assert.match(first, /500 TFLOP\/s\s+50\.5 %/);
  assert.match(await page.locator("canvas[aria-label^='Roofline']").getAttribute("aria-label"), /^Roofline: 2 operations .* memory 3,350 GB\/s$/);
  assert.match(await page.locator("#view").innerText(), /aten::mm \[1000x1000, 1000x1000\]/);
  await page.locator("tbody tr").first().click();
  assert.match(await page.locator(".facts").innerText(), /tensor cores\s+yes/);
  await page.finish();
});

test("the timeline has colours by class, and shows one class alone", async () => {
  const page = await stage.open(shaped, { hash: "#timeline" });
  await page.getByRole("button", { name: "By class" }).click();
  assert.match(await page.locator(".drawing-legend").innerText(), /GEMM 57\.1 %/);
  await page.getByLabel("Class of GPU work").selectOption("gemm");
  assert.match(await page.getByRole("status").innerText(), /^3 matches$/);
  await page.finish();
});

test("a trace without shapes says how to record them", async () => {
  const page = await stage.open(await stage.report("unshaped", trainingTrace()), { hash: "#kernels" });
  assert.match(await page.locator("#view").innerText(), /record_shapes=True/);
  assert.equal(await page.locator("canvas[aria-label^='Roofline']").count(), 0);
  await page.finish();
});

test("a program's own kernels have no classes", async () => {
  const path = await stage.report("own", manyKernelsTrace(5));
  const page = await stage.open(path);
  assert.equal(await page.locator(".class-row").count(), 0);
  await page.keyboard.press("4");
  await page.getByRole("button", { name: "type" }).waitFor();
  assert.equal(await page.getByLabel("Class of GPU work").count(), 0);
  await page.finish();
});
