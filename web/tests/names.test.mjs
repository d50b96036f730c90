import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { overflow, start } from "./browser.mjs";
import { evilNames, longName, namesTrace } from "./traces.mjs";

let stage;
let report;
before(async () => {
  stage = await start();
  report = await stage.report("names", namesTrace());
});
after(() => stage.close());

test("names are text, whatever they hold", async () => {
  const page = await stage.open(report, { hash: "#kernels" });
  const shown = await page.locator("tbody tr:not(.spacer) td:first-child").allTextContents();
  assert.deepEqual(shown.sort(), [longName, ...evilNames].sort());
  for (const key of ["1", "2", "3", "5", "6", "7"]) await page.keyboard.press(key);
  await page.finish();
});

test("a name of two thousand characters is cut on the page, and whole where it is asked for", async () => {
  assert.equal(longName.length, 2000);
  for (const width of [1280, 420]) {
    const page = await stage.open(report, { hash: "#kernels", viewport: { width, height: 800 } });
    const cell = page.locator("td:first-child", { hasText: "very_" }).first();
    assert.equal(await cell.getAttribute("title"), longName);
    assert.ok((await cell.boundingBox()).width < width);
    assert.equal(await overflow(page), 0);
    await cell.click();
    assert.equal(await page.locator(".fullname").innerText(), longName);
    await page.keyboard.press("1");
    await page.locator("h1").waitFor();
    assert.equal(await overflow(page), 0);
    await page.finish();
  }
});

test("a C++ kernel is shown by what tells it apart, and whole on hover", async () => {
  const names = {
    "void at::native::reduce_kernel<512, at::native::ReduceOp<float> >(at::native::ReduceOp<float>)": "reduce_kernel<512, ReduceOp<float> >",
    "void (anonymous namespace)::softmax_warp_forward<float, 8>(float*, int (*)(int))": "softmax_warp_forward<float, 8>",
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)": "ncclKernel_AllReduce_RING_LL_Sum_float",
    "volta_sgemm_128x64_nt": "volta_sgemm_128x64_nt",
    "plain (words)": "plain (words)",
  };
  const traceEvents = Object.keys(names).map((name, index) => ({
    ph: "X", cat: "kernel", name, pid: 0, tid: 7, ts: index * 10, dur: 9 - index, args: { device: 0, stream: 7 },
  }));
  const page = await stage.open(await stage.report("cpp", { traceEvents }), { hash: "#kernels" });
  const cells = page.locator("tbody tr:not(.spacer) td:first-child");
  assert.deepEqual(await cells.allInnerTexts(), Object.values(names));
  assert.equal(await cells.first().getAttribute("title"), Object.keys(names)[0]);
  await page.getByRole("searchbox").fill("at::native");
  assert.equal(await cells.count(), 1);
  await page.finish();
});
