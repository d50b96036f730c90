import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { frame, overflow, start, until } from "./browser.mjs";
import { evilNames, hostTrace, linkedTrace, longName, namesTrace, oneEventTrace, trainingTrace } from "./traces.mjs";

let stage;
let training;
before(async () => {
  stage = await start();
  training = await stage.report("training", trainingTrace());
});
after(() => stage.close());

const seen = async (page) => {
  const { view } = await frame(page);
  return view[1] - view[0];
};
// Clicks at a time (ms) and so far below the top of the canvas.
const clickAt = async (page, ms, down) => {
  const { view } = await frame(page);
  const box = await page.locator("canvas").boundingBox();
  const left = 170;
  const x = left + ((ms * 1e6 - view[0]) / (view[1] - view[0])) * (box.width - left);
  await page.mouse.click(box.x + x, box.y + down);
};
const kStream7 = 78 + 14; // minimap, ruler and steps, then the first row
const openTimeline = (path, options = {}) => stage.open(path, { hash: "#timeline", ...options });

test("threads, streams and counters are drawn, a rectangle a span where there is room", async () => {
  const page = await openTimeline(training);
  const { rectangles, labels, view } = await frame(page);
  assert.equal(view[0], 0);
  assert.equal(view[1], 20e6);
  assert.ok(rectangles >= 16 && rectangles <= 20, `${rectangles} rectangles`);
  assert.ok(labels >= 6, `${labels} labels`);
  assert.match(await page.locator("canvas").getAttribute("aria-label"), /16 spans on 3 tracks, 20\.0 ms/);
  await page.finish();
});

test("the wheel zooms at the pointer, keys move, and everything comes back", async () => {
  const page = await openTimeline(training);
  const box = await page.locator("canvas").boundingBox();
  await page.mouse.move(box.x + 700, box.y + 200);
  const whole = await frame(page);
  const under = (view) => view[0] + ((700 - 170) / (box.width - 170)) * (view[1] - view[0]);
  const before = under(whole.view);
  await page.mouse.wheel(0, -400);
  const closer = await frame(page);
  assert.ok(closer.view[1] - closer.view[0] < 0.6 * 20e6);
  assert.ok(Math.abs(under(closer.view) - before) < 1e4, "what is under the pointer stays there");
  await page.keyboard.press("d");
  assert.ok((await frame(page)).view[0] > closer.view[0]);
  await page.keyboard.press("ArrowLeft");
  assert.equal((await frame(page)).view[0], closer.view[0]);
  await page.keyboard.press("w");
  assert.ok((await seen(page)) < closer.view[1] - closer.view[0]);
  await page.getByRole("button", { name: "Show all" }).click();
  assert.equal(await seen(page), 20e6);
  await page.finish();
});

test("a drag on the ruler zooms to what was marked, and the address leads there", async () => {
  const page = await openTimeline(training);
  const box = await page.locator("canvas").boundingBox();
  const x = (ms) => box.x + 170 + (ms / 20) * (box.width - 170);
  await page.mouse.move(x(5), box.y + 48);
  await page.mouse.down();
  await page.mouse.move(x(10), box.y + 48, { steps: 4 });
  await page.mouse.up();
  const { view } = await frame(page);
  assert.ok(Math.abs(view[0] - 5e6) < 1e5 && Math.abs(view[1] - 10e6) < 1e5, String(view));
  await until(page, () => /from=[1-9]/.test(location.hash)); // where it was before the drag, the view began at 0
  const hash = await page.evaluate(() => location.hash);
  await page.finish();
  const linked = await openTimeline(training, { hash });
  assert.ok(Math.abs((await frame(linked)).view[0] - view[0]) < 2);
  await linked.finish();
});

test("a kernel shows its details, its arguments, and what launched it; and the launch shows the kernel", async () => {
  const page = await openTimeline(training);
  await clickAt(page, 2.5, kStream7);
  const details = page.getByRole("complementary");
  assert.match(await details.innerText(), /sgemm_128x64[\s\S]*2\.0 ms[\s\S]*kernel[\s\S]*GPU 0 · stream 7[\s\S]*280\.0 µs/);
  await details.getByText("correlation").waitFor();
  assert.equal((await frame(page)).arrows, 1);
  await details.getByRole("button", { name: "cudaLaunchKernel" }).click();
  assert.match(await details.innerText(), /runtime call[\s\S]*launched[\s\S]*sgemm_128x64/);
  assert.equal((await frame(page)).arrows, 1);
  await details.getByRole("button", { name: "Close" }).click();
  assert.equal((await frame(page)).arrows, 0);
  await page.finish();
});

test("search counts, and goes to the next and the one before", async () => {
  const page = await openTimeline(training);
  await page.keyboard.press("/");
  await page.keyboard.type("LAUNCH");
  assert.match(await page.getByRole("status").innerText(), /^6 matches$/);
  await page.keyboard.press("Enter");
  assert.match(await page.getByRole("status").innerText(), /^1 of 6 matches$/);
  await page.keyboard.press("Enter");
  assert.match(await page.getByRole("status").innerText(), /^2 of 6/);
  assert.match(await page.getByRole("complementary").innerText(), /cudaLaunchKernel/);
  await page.getByRole("button", { name: "Previous match" }).click();
  await page.getByRole("button", { name: "Previous match" }).click();
  assert.match(await page.getByRole("status").innerText(), /^6 of 6/);
  await page.getByRole("searchbox").fill("nothing like this");
  assert.match(await page.getByRole("status").innerText(), /^0 matches$/);
  await page.finish();
});

test("one event, GPU work alone, no GPU work and hostile names are drawn", async () => {
  for (const [name, trace, least] of [["one", oneEventTrace(), 1], ["host", hostTrace(), 2], ["names", namesTrace(), 1 + evilNames.length]]) {
    const page = await openTimeline(await stage.report(name, trace));
    const drawn = await frame(page);
    assert.ok(drawn.rectangles >= Math.min(least, 2), `${name}: ${drawn.rectangles}`);
    for (const key of ["w", "w", "w", "d", "a", "s", "0"]) await page.keyboard.press(key);
    await page.finish();
  }
});

test("a name of two thousand characters is cut on the canvas and whole in the details", async () => {
  const page = await openTimeline(await stage.report("names", namesTrace()), { viewport: { width: 700, height: 600 } });
  await page.keyboard.press("/");
  await page.keyboard.type("very_");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".details .fullname").innerText(), longName);
  assert.equal(await overflow(page), 0);
  await page.finish();
});

test("a file without spans says so", async () => {
  const page = await openTimeline(await stage.report("empty", { traceEvents: [] }));
  await page.getByText("nothing to draw").waitFor();
  await page.finish();
});

test("a forward operation leads to its backward one; moments have a mark", async () => {
  const page = await openTimeline(await stage.report("linked", linkedTrace()));
  assert.equal((await frame(page)).instants, 1);
  const box = await page.locator("canvas").boundingBox();
  const [left, top] = [170, 60];
  await page.mouse.move(box.x + left + (box.width - left) / 2, box.y + top + 10);
  assert.match(await page.getByRole("tooltip").innerText(), /epoch begins\s+at 2\.5 ms/);
  await page.mouse.click(box.x + left + 20, box.y + top + 14);
  assert.equal((await frame(page)).arrows, 1);
  assert.match(await page.locator(".links").innerText(), /linked to\s+AddmmBackward0/);
  await page.getByRole("button", { name: "AddmmBackward0" }).click();
  assert.match(await page.locator(".links").innerText(), /linked from\s+aten::linear/);
  await page.finish();
});

// As a hand does: `steps` positions of each finger.
async function touch(page, fingers) {
  const session = await page.context().newCDPSession(page);
  const points = (step) => fingers.map((path, id) => ({ x: path[step][0], y: path[step][1], id }));
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: points(0) });
  for (let step = 1; step < fingers[0].length; ++step) {
    await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: points(step) });
  }
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}

test("two fingers zoom, one moves, a tap selects", async () => {
  const page = await stage.open(training, { hash: "#timeline", hasTouch: true, viewport: { width: 420, height: 800 } });
  const whole = (await frame(page)).view;
  const box = await page.locator("canvas").boundingBox();
  const at = (share, y = 300) => [box.x + 84 + share * (box.width - 84), box.y + y];
  await touch(page, [[at(0.4), at(0.3), at(0.1)], [at(0.6), at(0.7), at(0.9)]]);
  const closer = (await frame(page)).view;
  assert.ok(Math.abs((closer[1] - closer[0]) / (whole[1] - whole[0]) - 0.25) < 0.02, "four times as close");
  assert.ok(Math.abs(closer[0] + closer[1] - whole[0] - whole[1]) < 0.04 * whole[1], "the middle stays");
  await touch(page, [[at(0.5), at(0.4), at(0.3)]]);
  const along = (await frame(page)).view;
  assert.ok(along[0] > closer[0]);
  assert.ok(Math.abs(along[1] - along[0] - (closer[1] - closer[0])) < 2);
  await page.getByRole("button", { name: "Show all" }).click();
  await page.touchscreen.tap(...at(0.125, kStream7));
  await page.locator(".details").waitFor();
  await page.finish();
});
