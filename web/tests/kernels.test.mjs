import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { frame, start, until } from "./browser.mjs";
import { load } from "./source.mjs";
import { shapedTrace, trainingTrace } from "./traces.mjs";

let stage;
let shaped;
before(async () => {
  stage = await start();
  shaped = await stage.report("shaped", shapedTrace());
});
after(() => stage.close());

const names = (page) => page.locator(".data").first().locator("tbody tr:not(.spacer) td:first-child").allInnerTexts();

test("kernels are grouped by class and by the operator that launched them", async () => {
  const page = await stage.open(shaped, { hash: "#kernels" });
  await page.getByRole("button", { name: "By class" }).click();
  assert.deepEqual(await names(page), ["GEMM", "elementwise"]);
  await page.getByRole("button", { name: "GEMM" }).click();
  assert.deepEqual(await names(page), ["sm90_xmma_gemm_bf16bf16"]);
  assert.equal(await page.evaluate(() => location.hash), "#kernels?class=gemm");
  await page.getByLabel("Class of GPU work").selectOption("");
  await page.getByRole("button", { name: "By operator" }).click();
  assert.deepEqual(await names(page), ["aten::mm", "aten::gelu"]);
  assert.match(await page.locator("tbody tr").first().innerText(), /aten::mm\s+1\s+3\s+12\.0 µs\s+57\.1 %/);
  await page.getByRole("button", { name: "aten::gelu" }).click();
  assert.deepEqual(await names(page), ["vectorized_elementwise_kernel<4>"]);
  await page.getByRole("button", { name: /aten::gelu ✕/ }).click();
  assert.equal((await names(page)).length, 2);
  await page.finish();
});

test("a kernel has its launches, and each leads to the timeline", async () => {
  const page = await stage.open(shaped, { hash: "#kernels?kernel=sm90_xmma_gemm_bf16bf16" });
  await page.getByRole("heading", { name: "Its launches" }).waitFor();
  assert.match(await page.locator(".links").innerText(), /launched by\s*aten::mm/);
  const rows = page.locator("[aria-label=launches] tbody tr");
  assert.equal(await rows.count(), 3);
  assert.match(await rows.first().innerText(), /µs\s+4\.0 µs\s+1\.0 µs\s+GPU 0 · stream 7/);
  await rows.nth(1).locator("a").press("Enter");
  const details = page.locator("[aria-label='Selected span']");
  await details.waitFor();
  assert.match(await details.innerText(), /sm90_xmma_gemm_bf16bf16[\s\S]*duration\s+4\.0 µs/);
  await page.goBack();
  await page.getByRole("heading", { name: "Its launches" }).waitFor(); // the address holds what was chosen
  await page.finish();
});

test("the keyboard alone chooses a kernel", async () => {
  const page = await stage.open(shaped, { hash: "#kernels" });
  await page.getByRole("button", { name: /sm90_xmma/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Chosen kernel" }).waitFor();
  assert.equal(await page.getByRole("button", { name: /sm90_xmma/ }).getAttribute("aria-pressed"), "true");
  await page.finish();
});

// Every launch is a row, and a row is drawn wherever the reader scrolls to.
test("a hundred thousand launches scroll, and only those in view are drawn", async () => {
  const count = 100_000;
  const traceEvents = Array.from({ length: count }, (_, i) => ({ ph: "X", cat: "kernel", name: "k", pid: 0, tid: 7, ts: i * 2, dur: 1 + i / count / 2, args: { device: 0, stream: 7 } }));
  const page = await stage.open(await stage.report("launches", { traceEvents }), { hash: "#kernels?kernel=k" });
  await page.getByText("100,000 launches").waitFor();
  const scroller = page.locator(".scroller[aria-label=launches]");
  for (const share of [0, 0.1, 0.35, 0.7, 1, 0.5]) {
    await scroller.evaluate((element, at) => element.scrollTo(0, at * element.scrollHeight), share);
    const seen = await until(page, () => {
      const table = document.querySelector(".scroller[aria-label=launches]");
      const box = table.getBoundingClientRect();
      const rows = [...table.querySelectorAll("tbody tr:not(.spacer)")].filter((row) => row.getBoundingClientRect().bottom > box.top + 40 && row.getBoundingClientRect().top < box.bottom);
      return rows.length >= 8 && { inView: rows.length, drawn: table.querySelectorAll("tr").length };
    });
    assert.ok(seen.drawn < 100, `${seen.drawn} rows are drawn`);
  }
  await page.finish();
});

// Six of "2.2 ms" beside each other said nothing.
test("the ticks of a distribution differ", async () => {
  const trace = trainingTrace();
  for (let i = 0; i < 40; ++i) trace.traceEvents.push({ ph: "X", cat: "kernel", name: "steady", pid: 0, tid: 9, ts: 30_000 + i * 3000, dur: 2200 + i, args: { device: 0, stream: 9 } });
  const page = await stage.open(await stage.report("steady", trace), { hash: "#kernels?kernel=steady" });
  await page.locator("canvas[aria-label^='Calls by duration']").focus();
  const seen = new Set();
  for (let bin = 0; bin < 30; ++bin) {
    await page.keyboard.press("ArrowRight");
    seen.add((await page.locator(".chart [aria-live]").first().innerText()).split(",")[0]);
  }
  assert.ok(seen.size >= 20, [...seen].join(" ")); // a bin each, and the last again
  await page.finish();
});

test("short names stay apart from each other", async () => {
  const { shortNames } = await load("short_names.ts");
  const shown = (...all) => [...shortNames(all).values()];
  assert.deepEqual(shown("void cutlass::device_kernel<a::fp8::GemmKernel>(a::fp8::GemmKernel::Params)", "void cutlass::device_kernel<a::fp16::GemmKernel>(a::fp16::GemmKernel::Params)"),
    ["device_kernel<fp8::GemmKernel>", "device_kernel<fp16::GemmKernel>"]);
  const long = "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize";
  assert.deepEqual(shown(`${long}128x128`, `${long}256x64`), ["sm80_xmma_fprop_implic…tilesize128x128", "sm80_xmma_fprop_implic…tilesize256x64"]);
  assert.deepEqual(shown("void at::native::reduce<512>(int)", "gemm"), ["reduce<512>", "gemm"]);
});

test("what is opened by a link to the timeline is drawn", async () => {
  const page = await stage.open(shaped, { hash: "#kernels" });
  await page.locator("tbody tr").first().click();
  await page.locator("[aria-label=launches] a").first().click();
  assert.ok((await frame(page)).rectangles > 0);
  await page.finish();
});
