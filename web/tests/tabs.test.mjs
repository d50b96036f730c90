import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "./browser.mjs";
import { hostTrace, manyKernelsTrace, oneEventTrace, trainingTrace } from "./traces.mjs";

let stage;
let training;
before(async () => {
  stage = await start();
  training = await stage.report("training", trainingTrace());
});
after(() => stage.close());

test("the overview tells the story, then the figures", async () => {
  const page = await stage.open(training);
  assert.match(await page.locator("h1").innerText(), /^The GPU computed \d+\.\d % of/);
  assert.match(await page.locator(".cards").innerText(), /Compute[\s\S]*Exposed communication[\s\S]*Exposed copies/);
  assert.match(await page.locator("canvas[aria-label^='Where the time went']").getAttribute("aria-label"), /exposed communication 15\.0 %/);
  assert.match(await page.locator("canvas[aria-label*='step by step']").getAttribute("aria-label"), /GPU 4\.0 ms, communication 3\.0 ms/);
  assert.ok(await page.getByRole("heading", { name: "Memory over time" }).isVisible());
  const findings = await page.locator(".finding").allInnerTexts();
  assert.match(findings[0], /host wait/i);
  assert.ok(findings.some((text) => text.includes("ProfilerStep#")));
  await page.finish();
});

test("every tab has its address and its key", async () => {
  const page = await stage.open(training);
  const tabs = ["overview", "timeline", "flame", "kernels", "memory", "suggestions"];
  assert.deepEqual(await page.getByRole("tab").evaluateAll((links) => links.map((link) => link.getAttribute("href"))), tabs.map((id) => `#${id}`));
  for (const [index, id] of tabs.entries()) {
    await page.keyboard.press(String(index + 1));
    await page.locator(`[role=tab][aria-selected=true][href="#${id}"]`).waitFor();
    assert.equal(await page.evaluate(() => location.hash), `#${id}`);
    assert.notEqual((await page.locator("#view").innerText()).trim(), "");
  }
  await page.keyboard.press("?");
  assert.match(await page.getByRole("dialog").innerText(), /1\s*–\s*6/);
  await page.finish();
  const linked = await stage.open(training, { hash: "#memory" });
  assert.equal(await linked.locator("[role=tab][aria-selected=true]").getAttribute("href"), "#memory");
  await linked.finish();
});

// A fill, a copy and communication have one colour each, wherever they are shown.
test("work has the same colour on every tab", async () => {
  const trace = trainingTrace();
  trace.traceEvents.push({ ph: "X", cat: "gpu_memset", name: "Memset (Device)", pid: 0, tid: 7, ts: 18_000, dur: 500, args: { device: 0, stream: 7 } });
  const path = await stage.report("colours", trace);
  const blocks = await stage.blocks(path);
  const timeline = blocks.timeline.subarray(4, 4 + blocks.timeline.readUInt32LE(0));
  const flame = JSON.parse(blocks.flame);
  const onTimeline = Object.fromEntries(JSON.parse(timeline).labels.map(([name, , part]) => [name, part]));
  const inTable = Object.fromEntries(JSON.parse(blocks.summary).operations.map(({ name, part }) => [name, part]));
  const inFlame = Object.fromEntries(flame.name.map((name, node) => [flame.names[name], flame.part[node]]));
  for (const [name, part] of [["Memset (Device)", "transfer"], ["Memcpy HtoD (Pinned -> Device)", "transfer"], ["ncclKernel_AllReduce", "comm"], ["sgemm_128x64", "gpu"]]) {
    assert.deepEqual([onTimeline[name], inTable[name], inFlame[name]], [part, part, part], name);
  }
});

test("kernels are searched and sorted", async () => {
  const page = await stage.open(training, { hash: "#kernels" });
  const names = () => page.locator("tbody tr:not(.spacer) td:first-child").allInnerTexts();
  assert.deepEqual(await names(), ["sgemm_128x64", "ncclKernel_AllReduce", "Memcpy HtoD (Pinned -> Device)"]);
  await page.getByRole("button", { name: "mean" }).click();
  await page.getByRole("button", { name: "mean" }).click();
  assert.equal(await page.locator("th[aria-sort=ascending]").innerText(), "mean ↑");
  assert.equal((await names())[0], "Memcpy HtoD (Pinned -> Device)");
  await page.keyboard.press("/");
  await page.keyboard.type("REDUCE nccl");
  assert.deepEqual(await names(), ["ncclKernel_AllReduce"]);
  assert.match(await page.getByRole("status").innerText(), /1 of 3 kernels/);
  await page.locator("tbody tr").first().click();
  assert.match(await page.locator(".facts").innerText(), /communication/);
  await page.getByRole("searchbox").first().fill("no such kernel");
  assert.match(await page.locator("#view").innerText(), /No kernels match/);
  await page.finish();
});

test("memory has its peak and its course", async () => {
  const page = await stage.open(training, { hash: "#memory" });
  assert.match(await page.locator(".cards").innerText(), /200 MB/);
  await page.finish();
});

test("a run without GPU work says so, and has no tab without content", async () => {
  const path = await stage.report("host", hostTrace());
  const page = await stage.open(path);
  assert.match(await page.locator("h1").innerText(), /^This trace has no GPU work/);
  assert.deepEqual(await page.getByRole("tab").allInnerTexts(), ["Overview", "Timeline", "Flame"]);
  for (const [hash, words] of [["#kernels", "no GPU work"], ["#memory", "no memory events"], ["#ranks", "one GPU"], ["#suggestions", "Nothing to suggest"]]) {
    await page.evaluate((to) => { location.hash = to; }, hash); // a link to what is not here says why
    await page.getByText(words).waitFor();
  }
  await page.finish();
});

test("one event is enough", async () => {
  const path = await stage.report("one", oneEventTrace());
  const page = await stage.open(path);
  assert.match(await page.locator("h1").innerText(), /computed 100\.0 %/);
  for (const key of ["2", "3", "4", "5"]) await page.keyboard.press(key);
  await page.keyboard.press("4");
  assert.match(await page.locator("tbody").innerText(), /only/);
  await page.finish();
});

test("fifty thousand kernels scroll, and only those in view are drawn", async () => {
  const path = await stage.report("many", manyKernelsTrace(50_000));
  const page = await stage.open(path, { hash: "#kernels" });
  const rows = page.locator("tbody tr:not(.spacer)");
  assert.ok((await rows.count()) < 100);
  assert.match(await page.getByRole("status").innerText(), /50,000 kernels/);
  await page.getByRole("button", { name: "kernel", exact: true }).click();
  await page.locator(".scroller").evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await page.getByText("kernel_9999", { exact: true }).waitFor();
  assert.ok((await rows.count()) < 100);
  await page.finish();
});
