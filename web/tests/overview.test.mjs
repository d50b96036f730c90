import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { drop, start } from "./browser.mjs";
import { profile, trainingTrace } from "./traces.mjs";

let stage;
let training;
before(async () => {
  stage = await start();
  const trace = trainingTrace();
  trace.traceEvents.push({ ph: "X", cat: "cuda_runtime", name: "cudaDeviceSynchronize", pid: 1, tid: 1, ts: 20_100, dur: 90_000 });
  training = await stage.report("training", trace);
});
after(() => stage.close());

// Enough that reading the timeline and flame graph takes a while.
function largeTrace() {
  const trace = trainingTrace();
  for (let i = 0; i < 40_000; ++i) {
    trace.traceEvents.push({ ph: "X", cat: "cpu_op", name: `op_${i % 3000}`, pid: 1, tid: 2, ts: i * 3, dur: 2 });
    if (i % 2) trace.traceEvents.push({ ph: "X", cat: "kernel", name: `kernel_${i % 997}`, pid: 0, tid: 9, ts: i * 3, dur: 2, args: { device: 0, stream: 9 } });
  }
  return trace;
}

test("everything in the overview leads to what is behind it", async () => {
  const page = await stage.open(training);
  const places = await page.locator("#view a").evaluateAll((links) => links.map((link) => [link.innerText.split("\n")[0].trim(), link.getAttribute("href")]));
  const to = (name) => places.find(([text]) => text.startsWith(name))?.[1];
  assert.equal(to("Compute"), "#kernels");
  assert.equal(to("Exposed communication"), "#kernels?class=communication");
  assert.equal(to("Idle"), "#suggestions");
  assert.equal(to("Peak memory"), "#memory");
  assert.equal(to("Memory over time"), "#memory");
  assert.equal(to("sgemm_128x64"), "#kernels?kernel=sgemm_128x64");
  const tabs = await page.getByRole("tab").evaluateAll((all) => all.map((tab) => tab.getAttribute("href")));
  for (const [name, place] of places) assert.ok(tabs.includes(place.split("?")[0]), `${name} leads to ${place}`);
  await page.finish();
});

test("an operation of the host has its calls, and a bottleneck leads to them", async () => {
  const page = await stage.open(training);
  await page.locator("a.finding", { hasText: "aten::mm" }).click();
  await page.getByRole("heading", { name: "Its calls" }).waitFor();
  assert.equal(await page.locator("[aria-label=calls] tbody tr").count(), 2);
  await page.locator("[aria-label=calls] a").first().click();
  assert.match(await page.locator("[aria-label='Selected span']").innerText(), /aten::mm[\s\S]*duration\s+3\.0 ms/);
  await page.finish();
});

test("a slice leads to its stretch of the timeline, with the keyboard too", async () => {
  const page = await stage.open(training);
  const chart = page.locator("canvas[aria-label*='step by step']");
  await chart.focus();
  for (const key of ["ArrowRight", "ArrowRight", "Enter"]) await page.keyboard.press(key);
  assert.match(await page.evaluate(() => location.hash), /^#timeline\?from=10000000&to=20000000/);
  await page.finish();
});

test("a wait for the GPU is no bottleneck: what was waited for is", async () => {
  const page = await stage.open(training);
  assert.doesNotMatch(await page.locator(".panel", { hasText: "Bottlenecks" }).last().innerText(), /Synchronize/);
  assert.match(await page.locator("[aria-label=operations]").innerText(), /cudaDeviceSynchronize/);
  await page.finish();
});

test("time in which nothing was recorded is not the CPU's", async () => {
  const page = await stage.open(training);
  const words = await page.locator("canvas[aria-label*='step by step']").getAttribute("aria-label");
  assert.match(words, /CPU 2\.0 ms, nothing recorded/); // of aten::mm, what lies beside GPU work and runtime calls
  await page.finish();
});

test("nothing moves while the page loads, and on a phone the tabs scroll", async () => {
  const page = await stage.open(training, { hash: "#suggestions", viewport: { width: 360, height: 740 } });
  const bar = page.getByRole("tablist");
  const inView = await bar.evaluate((nav) => {
    const tab = nav.querySelector("[aria-selected=true]").getBoundingClientRect();
    return nav.scrollWidth > nav.clientWidth && tab.left >= 0 && tab.right <= innerWidth;
  });
  assert.ok(inView, "the chosen tab is in view");
  const tabs = await page.getByRole("tab").evaluateAll((all) => all.map((tab) => tab.getAttribute("href")));
  const large = await stage.report("large", largeTrace());
  const places = [...tabs, "#kernels?kernel=sgemm_128x64", "#overview?operation=aten::mm&kind=cpu_op"].map((hash) => [training, hash]);
  for (const [path, hash] of [...places, ...["#overview", "#kernels", "#timeline", "#flame"].map((each) => [large, each])]) {
    const loaded = await stage.open(path, { hash });
    await loaded.waitForTimeout(100);
    const shift = await loaded.evaluate(() => new Promise((done) => {
      let sum = 0;
      new PerformanceObserver((list) => list.getEntries().forEach((entry) => { sum += entry.value; })).observe({ type: "layout-shift", buffered: true });
      setTimeout(() => done(sum), 50);
    }));
    assert.ok(shift < 0.01, `${hash} of ${path} moved by ${shift}`);
    await loaded.finish();
  }
  await page.finish();
});

test("help names as many keys as there are tabs", async () => {
  const page = await stage.open(training);
  const tabs = await page.getByRole("tab").count();
  await page.keyboard.press("?");
  assert.match(await page.getByRole("dialog").innerText(), new RegExp(`1\\s*–\\s*${tabs}`));
  await page.finish();
});

test("the bars of a profile lead to the calls of what they are of", async () => {
  const page = await stage.open(training);
  await drop(page, "mine.json", JSON.stringify(profile()));
  for (const chart of ["GPU, transfer, overhead and CPU by operation", "Mean time and calls"]) {
    await page.evaluate(() => { location.hash = "#overview"; });
    await page.locator(`canvas[aria-label^='${chart}']`).focus();
    for (const key of ["ArrowRight", "Enter"]) await page.keyboard.press(key);
    assert.match(await page.evaluate(() => location.hash), /^#overview\?operation=(request|infer)&kind=scope$/, chart);
    await page.getByRole("heading", { name: "Its calls" }).waitFor();
  }
  await page.finish();
});

// A kernel is ranked among GPU work, and among all operations: each place says of what its share is.
test("a kernel has one share of the GPU work, wherever that is told", async () => {
  const page = await stage.open(training);
  const shareIn = (row) => row.locator("td").evaluateAll((cells) => cells.map((cell) => cell.innerText).find((text) => /^[\d.]+ %$/.test(text)));
  const top = await shareIn(page.locator("section", { hasText: "Top kernels" }).locator("tbody tr", { hasText: "sgemm_128x64" }));
  await page.evaluate(() => { location.hash = "#kernels"; });
  assert.equal(await shareIn(page.locator("[aria-label=kernels] tbody tr", { hasText: "sgemm_128x64" })), top);
  await page.evaluate(() => { location.hash = "#kernels?by=operator"; });
  assert.equal(await shareIn(page.locator("[aria-label=operators] tbody tr", { hasText: "aten::mm" })), top);
  await page.finish();
});

test("what a profile says of the GPU survives its conversion from a trace", async () => {
  const page = await stage.open(await stage.converted("converted", trainingTrace()));
  assert.match(await page.locator("h1").innerText(), /^The GPU worked \d+\.\d % of/);
  await drop(page, "mine.json", JSON.stringify(profile()));
  await page.getByText("The GPU worked 60.0 %").waitFor();
  await page.finish();
});
