// The memory of a training step: whose line, what for, at which moment, and what the allocator held beside it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { overflow, start } from "./browser.mjs";
import { contrastFaults } from "./contrast.mjs";
import { trainingSnapshot } from "./snapshot.mjs";
import { trainingTrace } from "./traces.mjs";

let stage;
let path;
before(async () => {
  stage = await start();
  path = await stage.pageOfFile("memory", "step.pickle", trainingSnapshot());
});
after(() => stage.close());

const rows = (page) => page.locator("tbody tr:not(.spacer)").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
const alive = (page) => page.locator("h2", { hasText: /^Alive/ }).innerText();

test("the peak has its owners, by the user's own line, and what is older", async () => {
  const page = await stage.open(path);
  assert.match(await page.locator("h1").innerText(), /^GPU 0 memory peaked at 280 MB, 2\.0 ms into the recording/);
  assert.match(await page.locator(".story p").innerText(), /100 MB more is older than the recording/);
  assert.match(await page.locator(".cards").innerText(), /Alive at the end\s+240 MB\s+2 blocks, and 100 MB from before/);
  assert.match(await alive(page), /^Alive at the peak 280 MB/);
  assert.deepEqual(await rows(page), [
    ["(allocated before the recording)", "optimizer state, weights", "2", "140 MB", "50.0 %"],
    ["LogBackward0 · at::_ops::neg", "gradients", "1", "100 MB", "35.7 %"],
    ["optimizer.py:76 step · Optimizer.step#SGD.step", "optimizer state", "1", "40 MB", "14.3 %"],
  ]);
  assert.match(await page.locator(".stacked canvas").getAttribute("aria-label"), /^Memory by owner over time: 280 MB allocated at most; \(allocated before the recording\), LogBackward0/);
  await page.finish();
});

test("a moment shows what was alive then, with its stacks", async () => {
  const page = await stage.open(path);
  await page.getByRole("button", { name: "End" }).click();
  assert.match(await alive(page), /^Alive at the end 240 MB/);
  assert.deepEqual((await rows(page)).map(([place, , , bytes]) => [place.split(" ")[0], bytes]), [["(allocated", "100 MB"], ["LogBackward0", "100 MB"], ["optimizer.py:76", "40 MB"]]);
  await page.getByLabel("Moment", { exact: true }).and(page.locator("input")).focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.locator("tbody tr", { hasText: "model.py:39 forward" }).click();
  assert.deepEqual(await page.locator(".stacks .frames li").allInnerTexts(), ["at::_ops::mm", "einops/_backends.py:291 einsum", "project/model.py:39 forward", "project/train.py:7 main"]);
  const canvas = page.locator(".stacked canvas");
  const { width } = await canvas.boundingBox();
  await canvas.click({ position: { x: width * 0.9, y: 100 } });
  assert.match(await alive(page), /^Alive at (the end|3\.\d ms) 24[01] MB/, "a click on the chart chooses a moment");
  await page.getByRole("button", { name: "By purpose" }).click();
  const linked = await stage.open(path, { hash: await page.evaluate(() => location.hash) });
  assert.equal(await alive(linked), await alive(page), "the address holds the moment");
  assert.equal(await linked.getByRole("button", { name: "By purpose" }).getAttribute("aria-pressed"), "true");
  await linked.finish();
  assert.match(await page.locator(".stacked canvas").getAttribute("aria-label"), /weights, optimizer state, gradients, activations/);
  await page.finish();
});

test("what is reserved and unused, and what failed", async () => {
  const page = await stage.open(path);
  assert.equal(await page.locator(".reserved-bar").last().getAttribute("aria-label"), "370 MB reserved at the end: 240 MB in blocks, 60 MB in holes, 70 MB in free segments");
  assert.match(await page.locator(".said").last().innerText(), /^1 allocation failed for want of memory, the first of 2 GB when the device had 5 MB left/);
  assert.match(await page.locator(".failure summary").innerText(), /^2\.9 ms: 2 GB asked for, 5 MB free · model\.py:39 forward$/);
  await page.finish();
});

// Two devices: the CPU has next to nothing. The story is of the GPU, which needs no second heading.
test("a trace has what is reserved above what is allocated, and no chart of what is next to nothing", async () => {
  const traced = trainingTrace();
  for (const [ts, bytes] of [[12_000, 8], [13_000, -8]]) {
    traced.traceEvents.push({
      ph: "i", s: "t", name: "[memory]", pid: 1, tid: 1, ts,
      args: { "Device Type": 0, "Device Id": -1, Bytes: bytes, Addr: 77, "Total Allocated": Math.max(0, bytes) },
    });
  }
  const page = await stage.open(await stage.report("reserved", traced), { hash: "#memory" });
  const chart = page.locator(".stacked canvas");
  assert.equal(await chart.count(), 1);
  assert.match(await chart.getAttribute("aria-label"), /, reserved, not allocated$/);
  assert.match(await page.locator(".legend").first().innerText(), /reserved, not allocated 50 MB/, "of 200 MB at the peak");
  assert.deepEqual(await page.locator("#view h2.device-name").allInnerTexts(), ["CPU"]);
  await page.finish();
});

test("who never had more than a sliver is among the others", async () => {
  const traced = trainingTrace();
  traced.traceEvents.push({ ph: "X", cat: "cpu_op", name: "aten::tiny", pid: 1, tid: 1, ts: 15_100, dur: 100 });
  traced.traceEvents.push({
    ph: "i", s: "t", name: "[memory]", pid: 1, tid: 1, ts: 15_150,
    args: { "Device Type": 1, "Device Id": 0, Bytes: 512, Addr: 78, "Total Allocated": 200 * 2 ** 20 + 512, "Total Reserved": 201 * 2 ** 20 },
  });
  const page = await stage.open(await stage.report("tiny", traced), { hash: "#memory" });
  assert.doesNotMatch(await page.locator(".legend").first().innerText(), /aten::tiny/);
  assert.match(await page.locator(".legend").first().innerText(), /all others 512 B/);
  await page.finish();
});

test("on a phone in the dark it fits and can be read", async () => {
  const page = await stage.open(path, { viewport: { width: 390, height: 800 }, colorScheme: "dark" });
  await page.locator("tbody tr").nth(1).click();
  assert.equal(await overflow(page), 0);
  assert.deepEqual(await contrastFaults(page), []);
  await page.finish();
});
