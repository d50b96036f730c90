import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { frame, overflow, start } from "./browser.mjs";
import { hostTrace, namesTrace, oneEventTrace, stackTrace, trainingTrace } from "./traces.mjs";

let stage;
let training;
before(async () => {
  stage = await start();
  training = await stage.report("training", trainingTrace());
});
after(() => stage.close());

const openFlame = (path, options = {}) => stage.open(path, { hash: "#flame", ...options });
const row = (page, depth) => page.locator("canvas").boundingBox().then((box) => [box.x + 4, box.y + 6 + 19 * depth + 8]);

test("a click zooms to a call, the path leads back", async () => {
  const page = await openFlame(training);
  assert.equal((await frame(page)).view[1], 20e6);
  await page.mouse.click(...(await row(page, 3)));
  const { view } = await frame(page);
  assert.equal(view[1] - view[0], 6e6, "aten::mm, 3 ms in each of two steps");
  assert.deepEqual(await page.locator(".crumbs button").allInnerTexts(), ["all", "thread 1", "ProfilerStep#", "aten::mm"]);
  assert.match(await page.locator(".crumbs").innerText(), /6\.0 ms · 30\.0 %/);
  await page.locator(".crumbs").getByRole("button", { name: "ProfilerStep#" }).click();
  assert.equal((await frame(page)).view[1] - (await frame(page)).view[0], 20e6);
  await page.mouse.click(...(await row(page, 3)));
  await page.getByRole("button", { name: "Reset" }).click();
  assert.equal((await frame(page)).view[1], 20e6);
  await page.finish();
});

test("by GPU time, the whole is the GPU work, under what launched it", async () => {
  const page = await openFlame(training);
  await page.getByRole("button", { name: "GPU time" }).click();
  assert.equal((await frame(page)).view[1], 8e6, "two steps of a copy, a matrix product and a reduction");
  await page.mouse.move(...(await row(page, 4)));
  assert.match(await page.getByRole("tooltip").innerText(), /ncclKernel_AllReduce[\s\S]*37\.5 % of all/);
  await page.getByRole("button", { name: "Count" }).click();
  assert.equal((await frame(page)).view[1], 16);
  await page.getByRole("button", { name: "Time order" }).click();
  assert.equal(await page.getByRole("button", { name: "Time order" }).getAttribute("aria-pressed"), "true");
  await page.finish();
});

test("search tells the share of what it finds", async () => {
  const page = await openFlame(training);
  await page.getByRole("button", { name: "GPU time" }).click();
  await page.keyboard.press("/");
  await page.keyboard.type("sgemm");
  assert.match(await page.getByRole("status").innerText(), /^1 match · 50\.0 % of all$/);
  await page.getByRole("searchbox").fill("cudaLaunch sgemm");
  assert.match(await page.getByRole("status").innerText(), /^0 matches · 0\.0 %/);
  await page.finish();
});

test("only the paths to what is found are left, on request", async () => {
  const page = await openFlame(training);
  await page.getByRole("button", { name: "GPU time" }).click();
  await page.getByRole("searchbox").fill("sgemm");
  await page.getByRole("button", { name: "Only matches" }).click();
  assert.equal((await frame(page)).view[1], 4e6, "the matrix products alone");
  assert.match(await page.getByRole("status").innerText(), /50\.0 % of all/, "of the whole all the same");
  await page.mouse.click(...(await row(page, 5)));
  assert.deepEqual(await page.locator(".crumbs button").allInnerTexts(), ["all", "thread 1", "ProfilerStep#", "aten::mm", "cudaLaunchKernel", "sgemm_128x64"]);
  await page.getByRole("searchbox").fill("no such call");
  assert.equal((await frame(page)).view[1], 8e6, "nothing found hides nothing");
  await page.finish();
});

test("keys alone walk from call to call, read them and zoom; Enter in the search goes to what was found", async () => {
  const page = await openFlame(training);
  const said = () => page.locator(".drawing-frame [aria-live]").innerText();
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  await press("ArrowDown", "ArrowDown", "ArrowDown");
  assert.match(await said(), /^aten::mm, 6\.0 ms/);
  await press("ArrowRight");
  assert.match(await said(), /^cudaLaunchKernel/, "beside it");
  await press("ArrowUp");
  assert.match(await said(), /^ProfilerStep#/);
  await press("ArrowDown", "Enter");
  assert.equal((await frame(page)).view[1] - (await frame(page)).view[0], 6e6);
  await press("Escape");
  assert.deepEqual(await page.locator(".crumbs button").allInnerTexts(), ["all", "thread 1", "ProfilerStep#"]);
  await press("/");
  await page.keyboard.type("aten");
  await press("Enter");
  assert.deepEqual(await page.locator(".crumbs button").allInnerTexts(), ["all", "thread 1", "ProfilerStep#", "aten::mm"]);
  assert.match(await page.getByRole("status").innerText(), /^1 of 1 match/);
  await page.finish();
});

test("of a sandwich, the half that has the focus has the keys", async () => {
  const page = await openFlame(training);
  await page.getByRole("button", { name: "Sandwich" }).click();
  await page.locator(".functions tbody tr", { hasText: "aten::mm" }).click();
  const views = () => page.locator(".half canvas").evaluateAll((canvases) => canvases.map(({ frame }) => frame.view[1] - frame.view[0]));
  await page.waitForTimeout(100);
  const before = await views();
  await page.locator(".half canvas").nth(1).focus();
  await page.keyboard.press("w");
  await page.waitForTimeout(100);
  const after = await views();
  assert.equal(after[0], before[0]);
  assert.ok(after[1] < before[1]);
  await page.finish();
});

test("what is seen is in the address", async () => {
  const page = await openFlame(training);
  await page.getByRole("button", { name: "GPU time" }).click();
  await page.getByRole("button", { name: "Bottom-up" }).click();
  await page.mouse.click(...(await row(page, 3)));
  const hash = await page.evaluate(() => location.hash);
  const linked = await stage.open(training, { hash });
  assert.deepEqual(await linked.locator(".crumbs button").allInnerTexts(), ["all", "sgemm_128x64", "cudaLaunchKernel", "aten::mm"]);
  assert.equal(await linked.getByRole("button", { name: "GPU time" }).getAttribute("aria-pressed"), "true");
  assert.deepEqual((await frame(linked)).view, (await frame(page)).view);
  await linked.finish();
  await page.getByRole("button", { name: "Sandwich" }).click();
  await page.locator(".functions tbody tr", { hasText: "aten::mm" }).click();
  const half = await stage.open(training, { hash: await page.evaluate(() => location.hash) });
  assert.equal(await half.locator(".chosen-function").innerText(), "aten::mm");
  await half.finish();
  await page.finish();
});

test("names of kernels are short", async () => {
  const page = await openFlame(await stage.report("stack", stackTrace()));
  await page.getByRole("button", { name: "GPU time" }).click();
  await page.getByRole("searchbox").fill("gemm");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".crumbs button").last().innerText(), "gemm_kernel<float>");
  assert.deepEqual((await page.locator(".crumbs button").allInnerTexts()).slice(-3), ["aten::addmm", "cudaLaunchKernel", "gemm_kernel<float>"]);
  await page.finish();
});

test("bottom-up shows functions by their own time, with their callers below", async () => {
  const page = await openFlame(training);
  await page.getByRole("button", { name: "GPU time" }).click();
  await page.getByRole("button", { name: "Bottom-up" }).click();
  assert.equal((await frame(page)).view[1], 8e6);
  await page.mouse.move(...(await row(page, 1)));
  assert.match(await page.getByRole("tooltip").innerText(), /sgemm_128x64[\s\S]*4\.0 ms · 50\.0 % of all/);
  await page.mouse.click(...(await row(page, 3)));
  assert.deepEqual(await page.locator(".crumbs button").allInnerTexts(), ["all", "sgemm_128x64", "cudaLaunchKernel", "aten::mm"]);
  await page.finish();
});

test("the sandwich shows who calls a function and what it calls", async () => {
  const page = await openFlame(training);
  await page.getByRole("button", { name: "Sandwich" }).click();
  assert.deepEqual(await page.locator(".functions tbody tr").first().locator("td").allInnerTexts(), ["ProfilerStep#", "13.9 ms", "20.0 ms"]);
  await page.locator(".functions tbody tr", { hasText: "aten::mm" }).click();
  const labels = await page.locator(".half canvas").evaluateAll((canvases) => canvases.map((canvas) => canvas.getAttribute("aria-label")));
  assert.deepEqual(labels, ["Who calls it: aten::mm, 6.0 ms", "What it calls: aten::mm, 6.0 ms"]);
  await page.finish();
});

// Two threads, of which one waits for work and gets none.
const waitingTrace = () => ({
  traceEvents: [
    { ph: "X", cat: "python_function", name: "train.py(3): step", pid: 1, tid: 1, ts: 0, dur: 1000 },
    { ph: "X", cat: "python_function", name: "threading.py(900): run", pid: 1, tid: 2, ts: 0, dur: 5000 },
    { ph: "X", cat: "python_function", name: "threading.py(331): wait", pid: 1, tid: 2, ts: 1, dur: 4990 },
  ],
});

test("threads that only wait are folded away until they are asked for", async () => {
  const page = await openFlame(await stage.report("waiting", waitingTrace()));
  assert.equal((await frame(page)).view[1], 1e6, "the thread that works");
  await page.getByRole("button", { name: "1 idle thread" }).click();
  assert.equal((await frame(page)).view[1], 6e6);
  await page.finish();
});

test("the path can be read on a phone", async () => {
  const page = await openFlame(training, { viewport: { width: 390, height: 800 } });
  await page.mouse.click(...(await row(page, 3)));
  const last = page.locator(".crumbs button").last();
  const box = await last.boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 390, "the call itself is in view");
  assert.equal(await last.evaluate((button) => button.scrollWidth <= button.clientWidth), true, "and whole");
  assert.equal(await overflow(page), 0);
  await page.finish();
});

test("the tooltip has shares of the whole and of the caller", async () => {
  const page = await openFlame(training);
  await page.mouse.move(...(await row(page, 3)));
  assert.match(await page.getByRole("tooltip").innerText(), /aten::mm[\s\S]*6\.0 ms · 30\.0 % of all · 30\.0 % of its caller[\s\S]*2 calls/);
  await page.finish();
});

test("one event, no GPU work, hostile names and a narrow window", async () => {
  for (const [name, trace] of [["one", oneEventTrace()], ["host", hostTrace()], ["names", namesTrace()]]) {
    const page = await openFlame(await stage.report(name, trace), { viewport: { width: 420, height: 700 } });
    assert.ok((await frame(page)).rectangles >= 2, name);
    assert.equal(await overflow(page), 0);
    await page.finish();
  }
  const page = await openFlame(await stage.report("empty", { traceEvents: [] }));
  await page.getByText("nothing to draw").waitFor();
  await page.finish();
});
