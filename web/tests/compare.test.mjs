import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { overflow, start, until } from "./browser.mjs";
import { evilNames, hostTrace, longName, trainingTrace } from "./traces.mjs";

// Forty calls of a few operations in a loop; `slow` stretches one, `run` wobbles all.
function loopTrace(run, slow, names = ["load", "forward", "backward"]) {
  const traceEvents = [];
  let at = 0;
  for (let i = 0; i < 40; ++i) {
    const begin = at;
    names.forEach((name, index) => {
      const wobble = 1 + (((i * 7 + run * 3 + index) % 11) - 5) / 1000;
      const dur = (100 + 50 * index) * wobble * (index === 1 ? slow : 1);
      traceEvents.push({ ph: "X", cat: "cpu_op", name, pid: 1, tid: 1, ts: at, dur });
      at += dur;
    });
    traceEvents.push({ ph: "X", cat: "cpu_op", name: "loop", pid: 1, tid: 1, ts: begin, dur: at - begin });
    at += 5;
  }
  return { traceEvents };
}

const runs = (slow, names) => [1, 2, 3].map((run) => loopTrace(run, slow, names));

let stage;
let page;
before(async () => {
  stage = await start();
  page = await stage.comparison("loop", runs(1), runs(1.3));
});
after(() => stage.close());

test("a comparison opens on its tab, which says what changed", async () => {
  const view = await stage.open(page);
  assert.deepEqual(await view.locator("[role=tab]").allInnerTexts(), ["Compare"]);
  assert.match(await view.locator("h1").innerText(), /largest difference is forward: \+1\.8 ms of the run/);
  assert.match(await view.locator("section.cards").innerText(), /Slower\s+\d/);
  await view.finish();
});

// One run per side: the largest difference is a loss, and what was gained made the run faster.
test("a faster run is headlined by what made it faster, proven or not", async () => {
  const side = (first, second, lost) => {
    let at = 0;
    const call = (name, dur) => ({ ph: "X", cat: "cpu_op", name, pid: 1, tid: 1, ts: (at += dur) - dur, dur });
    return { traceEvents: [0, 30].flatMap((more) => [call("first", first + more), call("second", second + more), call("lost", lost - more / 30)]) };
  };
  const view = await stage.open(await stage.comparison("faster", [side(1000, 800, 300)], [side(700, 550, 620)]));
  assert.match(await view.locator("h1").innerText(), /took 4\.3 ms before and 3\.8 ms now \(−10\.8 %\)\. The largest gain is first: −600\.0 µs of the run/);
  await view.finish();
});

test("operations stand by the size of their change, each with verdict and interval", async () => {
  const view = await stage.open(page);
  const first = view.locator("tbody tr").first();
  assert.match(await first.innerText(), /^forward\s+SLOWER\s+40\s+14\d\.\d µs\s+19\d\.\d µs\s+\+30\.\d %/);
  assert.match(await first.locator("svg").getAttribute("aria-label"), /^\+30\.\d %, 95 % interval \+\d+\.\d % to \+\d+\.\d %$/);
  await view.getByRole("button", { name: /^same 2$/ }).click();
  assert.deepEqual((await view.locator("tbody td:first-child").allInnerTexts()).sort(), ["backward", "load"]);
  await view.getByRole("button", { name: /^all 3$/ }).click();
  await view.getByLabel("Search operations").fill("back");
  assert.deepEqual(await view.locator("tbody td:first-child").allInnerTexts(), ["backward"]);
  await view.getByLabel("Kind of work").selectOption("cpu");
  assert.equal(await view.locator("tbody tr").count(), 1);
  await view.finish();
});

test("on a phone an operation has its verdict and its change", async () => {
  const view = await stage.open(page, { viewport: { width: 390, height: 800 } });
  assert.deepEqual(await view.locator("thead th").allInnerTexts(), ["operation", "verdict", "change"]);
  const first = view.locator("tbody tr").first();
  assert.match(await first.innerText(), /^forward\s+SLOWER\s+\+30\.\d %$/);
  const box = await first.locator("td").last().boundingBox();
  assert.ok(box.x + box.width <= 390, "without scrolling");
  assert.equal(await overflow(view), 0);
  await view.finish();
});

test("the chosen operation shows its calls, before and now, run by run", async () => {
  const view = await stage.open(page);
  assert.equal(await view.locator(".fullname").innerText(), "forward");
  assert.equal(await view.locator(".strip.before").count(), 3);
  assert.equal(await view.locator(".strip.now").count(), 3);
  assert.match(await view.locator(".strip.now").first().getAttribute("aria-label"), /^now 1: centre 19\d\.\d µs, 40 calls$/);
  assert.match(await view.locator(".chart canvas").getAttribute("aria-label"), /^Calls by duration before and now, from 14\d\.\d µs to 19\d\.\d µs$/);
  await view.locator("tbody tr", { hasText: "backward" }).click();
  assert.equal(await view.locator(".fullname").innerText(), "backward");
  await view.finish();
});

test("the flame difference holds both sides, and zooms", async () => {
  const view = await stage.open(page);
  const canvas = view.locator(".flame-change canvas");
  await canvas.waitFor();
  assert.match(await canvas.getAttribute("aria-label"), /^Flame difference of 4 call paths: 18\.\d ms before · 19\.\d ms now · \+10\.\d %$/);
  await until(view, () => document.querySelector(".flame-change canvas")?.frame?.rectangles >= 5);
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  await view.mouse.move(box.x + 30, box.y + 6 + 19 + 8);
  await view.locator(".tip", { hasText: "loop" }).waitFor();
  await view.mouse.click(box.x + 30, box.y + 6 + 2 * 19 + 8);
  assert.equal(await view.locator(".flame-change .crumbs button").count(), 3);
  await view.getByLabel("Find calls").fill("forward");
  await view.getByText("1 match").waitFor();
  await view.finish();
});

test("GPU and CPU time each have their difference", async () => {
  const view = await stage.open(await stage.comparison("training", [trainingTrace()], [trainingTrace()]));
  await view.getByRole("button", { name: "GPU time" }).click();
  assert.match(await view.locator(".flame-change canvas").getAttribute("aria-label"), /\+0\.0 %$/);
  await view.finish();
});

test("names are text and are cut, whatever they hold and however wide the window", async () => {
  const names = [longName, ...evilNames];
  const report = await stage.comparison("names", [loopTrace(1, 1, names)], [loopTrace(2, 1.5, names)]);
  for (const width of [1280, 360]) {
    const view = await stage.open(report, { viewport: { width, height: 800 } });
    assert.equal(await overflow(view), 0);
    await view.locator("td:first-child", { hasText: "very_" }).click();
    assert.equal(await view.locator(".fullname").innerText(), longName);
    assert.equal(await overflow(view), 0);
    await view.finish();
  }
});

test("what is chosen is in the address", async () => {
  const view = await stage.open(page);
  await view.getByRole("button", { name: /^same 2$/ }).click();
  await view.locator("tbody tr", { hasText: "backward" }).click();
  const linked = await stage.open(page, { hash: await view.evaluate(() => location.hash) });
  assert.equal(await linked.locator(".fullname").innerText(), "backward");
  assert.equal(await linked.locator("tbody tr").count(), 2);
  await linked.finish();
  await view.finish();
});

// Calls of nearly the same duration: every tick read the same.
test("the ticks of a distribution differ, and names of kernels are short", async () => {
  const steady = (longer) => ({ traceEvents: Array.from({ length: 60 }, (_, i) => ({ ph: "X", cat: "kernel", name: "void at::native::steady<float>(int)", pid: 0, tid: 7, ts: i * 3000, dur: 2200 + i / 10 + longer, args: { device: 0, stream: 7 } })) });
  const view = await stage.open(await stage.comparison("steady", [steady(0)], [steady(2)]));
  assert.equal(await view.locator("tbody td:first-child").first().innerText(), "steady<float>");
  const chart = view.locator("canvas[aria-label^='Calls by duration']");
  await chart.focus();
  const seen = new Set();
  for (let bin = 0; bin < 32; ++bin) {
    await view.keyboard.press("ArrowRight");
    seen.add((await view.locator(".chart [aria-live]").innerText()).split(",")[0]);
  }
  assert.equal(seen.size, 32);
  await view.finish();
});

test("each run has a strip in which all of it is seen", async () => {
  const view = await stage.open(page);
  const out = await view.evaluate(() => [...document.querySelectorAll(".strip")].filter((strip) => {
    const box = strip.getBoundingClientRect();
    return [...strip.children].some((dot) => dot.tagName !== "title" && (dot.getBoundingClientRect().bottom > box.bottom || dot.getBoundingClientRect().top < box.top));
  }).length);
  assert.equal(out, 0);
  await view.finish();
});

test("in the dark it is dark, canvas and all", async () => {
  const view = await stage.open(page, { colorScheme: "dark" });
  assert.equal(await view.evaluate(() => getComputedStyle(document.querySelector(".panel")).backgroundColor), "rgb(23, 27, 33)");
  await until(view, () => document.querySelector(".flame-change canvas")?.frame);
  const corner = await view.evaluate(() => {
    const canvas = document.querySelector(".flame-change canvas");
    return [...canvas.getContext("2d").getImageData(1, 1, 1, 1).data.slice(0, 3)];
  });
  assert.deepEqual(corner, [23, 27, 33]);
  await view.finish();
});

test("a report of one run says how to compare", async () => {
  const view = await stage.open(await stage.report("one", hostTrace()), { hash: "#compare" });
  await view.getByText("This report is of one run. Run fathom compare").waitFor();
  await view.finish();
});

test("runs without operations say so", async () => {
  const empty = { traceEvents: [] };
  const view = await stage.open(await stage.comparison("empty", [empty], [empty]));
  assert.match(await view.locator("h1").innerText(), /no operations on either side/);
  assert.equal(await view.locator("table").count(), 0);
  await view.finish();
});

test("a name without room ends in a mark, and has all the room there is", async () => {
  const names = [`void at::native::${"reduce_".repeat(20)}kernel<float>`, "short"];
  const view = await stage.open(await stage.comparison("long", [loopTrace(1, 1, names)], [loopTrace(2, 1.5, names)]));
  const cut = view.locator("td:first-child .cut", { hasText: "reduce_" });
  const [style, room, width] = await cut.evaluate((element) => [getComputedStyle(element).textOverflow, element.closest("td").clientWidth, element.clientWidth]);
  assert.equal(style, "ellipsis");
  assert.ok(width > room - 20 && width <= room, `${width} of ${room}`);
  assert.ok(await cut.evaluate((element) => element.scrollWidth > element.clientWidth));
  await view.finish();
});
