import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { frame, overflow, start, until } from "./browser.mjs";
import { trainingSnapshot } from "./snapshot.mjs";
import { evilNames, hostTrace, linkedTrace, loadingTrace, longName, namesTrace, oneEventTrace, stackTrace, trainingTrace } from "./traces.mjs";

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
// Where a track stands on the canvas: the middle of its row.
const rowOf = async (page, name, row = 0) => {
  const track = (await frame(page)).tracks.find((each) => each.name === name);
  assert.ok(track, `${name} is shown`);
  return track.top + row * 18 + 8;
};
const left = 186;
const placeOf = async (page, ms, down) => {
  const { view } = await frame(page);
  const box = await page.locator("canvas").boundingBox();
  return [box.x + left + ((ms * 1e6 - view[0]) / (view[1] - view[0])) * (box.width - left), box.y + down];
};
// Clicks at a time (ms) on a row of a track.
const clickAt = async (page, ms, name, row = 0) => page.mouse.click(...(await placeOf(page, ms, await rowOf(page, name, row))));
const drag = async (page, from, to) => {
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move(...to, { steps: 4 });
  await page.mouse.up();
};
const kStream7 = "GPU 0 · stream 7";
const kOnRuler = 48;
const openTimeline = (path, options = {}) => stage.open(path, { hash: "#timeline", ...options });

test("threads, streams and counters are drawn, a rectangle a span where there is room", async () => {
  const page = await openTimeline(training);
  const { rectangles, labels, view } = await frame(page);
  assert.equal(view[0], 0);
  assert.equal(view[1], 20e6);
  assert.ok(rectangles >= 16 && rectangles <= 20, `${rectangles} rectangles`);
  assert.ok(labels >= 6, `${labels} labels`);
  assert.match(await page.locator("canvas").getAttribute("aria-label"), /16 spans on 4 tracks, 20\.0 ms/);
  await page.finish();
});

test("the wheel zooms at the pointer, keys move, and everything comes back", async () => {
  const page = await openTimeline(training);
  const box = await page.locator("canvas").boundingBox();
  await page.mouse.move(box.x + 700, box.y + 200);
  const whole = await frame(page);
  const under = (view) => view[0] + ((700 - left) / (box.width - left)) * (view[1] - view[0]);
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

test("a drag on the ruler selects a range: busy and idle, what ran by name, class and track; the address leads there", async () => {
  const page = await openTimeline(training);
  await drag(page, await placeOf(page, 1, kOnRuler), await placeOf(page, 6, kOnRuler));
  const panel = page.getByRole("region", { name: "Selected range" });
  assert.match(await panel.locator(".selection-head").innerText(), /^5\.0 ms\s+from 1\.0 ms to 6\.0 ms/);
  // Within 1 to 6 ms: 2 ms of sgemm, 1.5 ms of communication.
  assert.match(await panel.locator(".gpu-use").innerText(), /GPU 0\s+compute 2\.0 ms \((39|40)\.\d %\) · communication 1\.5 ms \((29|30)\.\d %\) · idle 1\.5 ms \((29|30)\.\d %\)$/);
  assert.match(await panel.locator(".gpu-use .bar").getAttribute("aria-label"), /^GPU 0: compute [34]\d\.\d %, communication [23]\d\.\d %, idle 30\.\d %$/);
  assert.deepEqual(await panel.locator("tbody td:first-child").allInnerTexts(), ["sgemm_128x64", "ncclKernel_AllReduce"]);
  assert.match(await panel.locator("tbody tr").first().innerText(), /kernel\s+1\s+2\.0 ms\s+2\.0 ms\s+57\.\d %/);
  await panel.getByRole("button", { name: "By class" }).click();
  assert.deepEqual(await panel.locator("tbody td:first-child").allInnerTexts(), ["GEMM", "communication"]);
  await panel.getByRole("button", { name: "Host" }).click();
  assert.match(await panel.locator("tbody").innerText(), /aten::mm\s+operator\s+1\s+3\.0 ms\s+3\.0 ms/);
  await panel.getByRole("button", { name: "By track" }).click();
  assert.match(await panel.locator("tbody").innerText(), /GPU 0 · stream 7\s+1\s+2\.0 ms/);
  await page.keyboard.press("f");
  await until(page, () => /from=[1-9]\d*&to=\d+&mark=\d+-\d+$/.test(location.hash));
  const hash = await page.evaluate(() => location.hash);
  const { view } = await frame(page);
  const linked = await openTimeline(training, { hash });
  assert.deepEqual((await frame(linked)).view.map(Math.round), view.map(Math.round));
  assert.match(await linked.locator(".selection-head").innerText(), /^5\.0 ms/);
  await linked.finish();
  await page.keyboard.press("Escape");
  assert.equal(await panel.count(), 0);

  // An area is the tracks it touches; by keys alone: what is seen, and the time of a span.
  await page.getByRole("button", { name: "Show all" }).click();
  await page.keyboard.down("Shift");
  await drag(page, await placeOf(page, 2, await rowOf(page, kStream7)), await placeOf(page, 12, (await rowOf(page, kStream7)) + 4));
  await page.keyboard.up("Shift");
  assert.match(await panel.locator(".selection-head").innerText(), /on GPU 0 · stream 7/);
  await until(page, () => /&mark=\d+-\d+&tracks=\d+$/.test(location.hash));
  await page.keyboard.press("Escape");
  await page.keyboard.press("r");
  assert.match(await panel.locator(".selection-head").innerText(), /^20\.0 ms\s+from 0 ns to 20\.0 ms/);
  await panel.getByRole("button", { name: "sgemm_128x64" }).click();
  await page.getByRole("search").first().getByText("2 matches").waitFor();
  await page.getByRole("button", { name: "Clear the range" }).click();
  await clickAt(page, 2.5, kStream7);
  await page.keyboard.press("m");
  assert.match(await panel.locator(".selection-head").innerText(), /^2\.0 ms/);
  await page.finish();
});

test("a kernel leads to its launch, its operator and the Python around it, and each of those to the kernel", async () => {
  const page = await openTimeline(await stage.report("stack", stackTrace()));
  const details = page.getByRole("complementary");
  await clickAt(page, 1.5, kStream7);
  assert.match(await details.locator(".fullname").innerText(), /^void at::native::\(anonymous namespace\)::gemm_kernel<float>/);
  assert.deepEqual(await details.getByRole("group", { name: "Called from" }).getByRole("button").allInnerTexts(),
    ["aten::addmm", "aten::linear", "forward model.py:12", "train train.py:70", "main train.py:80", "<module> train.py:90"]);
  await details.getByRole("button", { name: "forward model.py:12" }).click();
  assert.match(await details.locator(".fullname").innerText(), /^model\.py\(12\): forward$/);
  assert.match(await details.innerText(), /GPU work launched\s+2\.4 ms/);
  const launched = details.getByRole("group", { name: "launched" }).getByRole("button");
  assert.deepEqual(await launched.allInnerTexts(), Array(3).fill("gemm_kernel<float>"));
  await launched.nth(2).click();
  assert.match(await details.innerText(), /kernel[\s\S]*launched by\s+cudaLaunchKernel/);
  await page.keyboard.press(",");
  assert.match(await details.innerText(), /start\s+2\.000 ms/, "the one before it on its stream");
  await page.keyboard.press("Escape");
  assert.equal(await details.count(), 0);

  // Frames around everything are one row, which opens where one of them is asked for; who waits stands aside.
  const names = async () => (await frame(page)).tracks.map(({ name }) => name);
  assert.deepEqual(await names(), [kStream7, "annotations · GPU 0 · stream 7", "GPU 0 · queue", "annotations · thread 5", "thread 5", "1 idle thread"]);
  const height = async () => (await frame(page)).tracks.find(({ name }) => name === "thread 5").height;
  const folded = await height();
  await clickAt(page, 1.5, kStream7);
  await details.getByRole("button", { name: "main train.py:80" }).click();
  assert.equal(await height(), folded + 2 * 18);

  // GPU rows stay in view, until they are told not to.
  await page.keyboard.press("Escape");
  const before = await rowOf(page, kStream7);
  await page.locator(".drawing-area").evaluate((area) => area.scrollTo(0, 300));
  assert.equal(await rowOf(page, kStream7), before);
  assert.ok((await rowOf(page, "thread 5")) < 100);
  await page.getByText("Tracks").click();
  await page.getByRole("checkbox", { name: kStream7, exact: true }).uncheck();
  assert.ok((await rowOf(page, kStream7)) < before);
  await page.getByRole("checkbox", { name: "Show idle threads" }).check();
  assert.ok((await names()).includes("thread 6"));
  await page.finish();
});

test("the critical path is a lane and a line through the spans on it, and the address keeps it", async () => {
  const page = await openTimeline(await stage.report("loading", loadingTrace()));
  assert.equal((await frame(page)).path, 0);
  await page.getByRole("button", { name: "Critical path" }).click();
  assert.match(await page.getByRole("group", { name: "Critical path" }).innerText(), /compute 40\.0 ms[\s\S]*data loading 60\.0 ms/);
  assert.ok((await frame(page)).path >= 40);
  await clickAt(page, 4, "critical path");
  assert.equal(await page.locator(".fullname").innerText(), "gemm");
  await page.evaluate(() => { location.hash = "#kernels"; });  // at once, before the address has followed
  await page.getByRole("searchbox", { name: "Search kernels" }).waitFor();
  await page.evaluate(() => { location.hash = "#timeline"; });
  await until(page, () => document.querySelector("canvas")?.frame?.path > 0);
  assert.equal(await page.locator(".fullname").innerText(), "gemm", "coming back shows what was seen");
  await until(page, () => /&span=\d+&path=1$/.test(location.hash));
  await page.finish();
});

test("keys alone select, walk from span to span and track to track, fold, pin, and sum up a track", async () => {
  const page = await openTimeline(await stage.report("stack", stackTrace()));
  const name = () => page.locator(".details .fullname").innerText();
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  await press("Enter");
  assert.match(await name(), /gemm_kernel/, "what is on top in the middle");
  assert.match(await page.locator(".details .facts").first().innerText(), /GPU 0 · queue\s+\d/, "what the counters were");
  await press("ArrowDown", "ArrowDown");
  assert.equal(await name(), "ProfilerStep#0", "the lane of annotations, past the queue");
  await press("ArrowDown");
  assert.equal(await name(), "lib/deep/train.py(70): train", "the frames around all are one row");
  await press("ArrowDown");
  assert.equal(await name(), "model.py(12): forward");
  await press("ArrowDown", "ArrowDown");
  assert.equal(await name(), "aten::addmm");
  await press("ArrowDown", "ArrowRight");
  assert.match(await page.locator(".details").innerText(), /cudaLaunchKernel[\s\S]*start\s+500 µs/, "the one beside it");
  await press("ArrowUp");
  assert.equal(await name(), "aten::addmm", "the caller");
  const height = async () => (await frame(page)).tracks.find((track) => track.name === "thread 5").height;
  const folded = await height();
  await press("o");
  assert.equal(await height(), folded + 2 * 18, "its frames by themselves");
  const isPinned = async () => (await frame(page)).tracks.find((track) => track.name === "thread 5").pinned;
  await press("o", "p"); // all in one row, which there is room for
  assert.equal(await isPinned(), true);
  await press("p", "t");
  assert.match(await page.locator(".selection-head").innerText(), /on thread 5/);
  await press("Escape", "Escape");
  assert.equal(await page.locator(".details").count(), 0);
  await page.finish();
});

test("a key goes from moment to moment", async () => {
  const page = await openTimeline(await stage.report("linked", linkedTrace()));
  await page.keyboard.press("]");
  assert.match(await page.getByRole("tooltip").innerText(), /epoch begins\s+at 2\.5 ms/);
  await page.finish();
});

test("colours and pins are in the address, and a counter can be pinned", async () => {
  const page = await openTimeline(training, { viewport: { width: 1280, height: 1100 } });
  await page.getByRole("button", { name: "By class" }).click();
  await page.getByText("Tracks").click();
  const queue = page.getByRole("checkbox", { name: "GPU 0 · queue" });
  await queue.check();
  await until(page, () => /&colours=class&pinned=[\d,]+$/.test(location.hash));
  const linked = await openTimeline(training, { hash: await page.evaluate(() => location.hash), viewport: { width: 1280, height: 1100 } });
  assert.equal(await linked.getByRole("button", { name: "By class" }).getAttribute("aria-pressed"), "true");
  assert.equal((await frame(linked)).tracks.find(({ name }) => name === "GPU 0 · queue").pinned, true);
  await linked.finish();
  await page.finish();
});

test("kernels of one name but for their namespace read differently, and all that a span launched can be reached", async () => {
  const trace = stackTrace();
  for (let i = 0; i < 20; ++i) {
    trace.traceEvents.push({ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 5, tid: 5, ts: 600 + i * 10, dur: 5, args: { correlation: 100 + i } });
    trace.traceEvents.push({ ph: "X", cat: "kernel", name: `void ${i % 2 ? "a" : "b"}::run(int)`, pid: 0, tid: 7, ts: 4000 + i * 10, dur: 5, args: { device: 0, stream: 7, correlation: 100 + i } });
  }
  const page = await openTimeline(await stage.report("same", trace));
  await page.keyboard.press("/");
  await page.keyboard.type("aten::linear");
  await page.keyboard.press("Enter");
  const launched = page.getByRole("group", { name: "launched" }).getByRole("button");
  assert.deepEqual((await launched.allInnerTexts()).slice(2, 6), ["gemm_kernel<float>", "b::run", "a::run", "b::run"]);
  await launched.last().click();
  assert.equal(await launched.count(), 23);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("Escape");
  await page.keyboard.press("r");
  assert.deepEqual(await page.locator(".selection tbody td:first-child").allInnerTexts(), ["gemm_kernel<float>", "b::run", "a::run"]);
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

// Steps are named on the ruler; a tracer's row for itself is no thread to look at.
test("steps are named once, and there are no rows that say nothing", async () => {
  const trace = trainingTrace();
  trace.traceEvents.push({ ph: "X", cat: "Trace", name: "PyTorch Profiler (0)", pid: "Spans", tid: "PyTorch Profiler", ts: 0, dur: 20_100 });
  const page = await openTimeline(await stage.report("rows", trace));
  const { tracks, labels } = await frame(page);
  assert.deepEqual(tracks.map(({ name }) => name).filter((name) => !name.startsWith("GPU")), ["annotations · thread 1", "thread 1", "1 idle thread"]);
  assert.deepEqual(tracks.filter(({ height }) => height < 17), []);
  await page.getByRole("searchbox", { name: "Find spans" }).fill("ProfilerStep");
  assert.equal((await frame(page)).labels, labels, "a search does not name them either");
  const withSteps = labels;
  const none = { ...trace, traceEvents: trace.traceEvents.map((event) => (event.name?.startsWith("ProfilerStep") ? { ...event, name: "phase" } : event)) };
  const plain = await openTimeline(await stage.report("phases", none));
  assert.equal((await frame(plain)).labels, withSteps + 2, "two stretches of another name are named in their lane");
  await plain.finish();
  await page.finish();
});

test("the timeline of a snapshot is as long as its history", async () => {
  const page = await openTimeline(await stage.pageOfFile("report", "step.pickle", trainingSnapshot()));
  const { view } = await frame(page);
  assert.equal(view[1] - view[0], 3.5e6, "from the first allocation to the last free, beyond its one annotation");
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
  const row = await rowOf(page, "thread 1");
  await page.mouse.move(box.x + left + (box.width - left) / 2, box.y + row);
  assert.match(await page.getByRole("tooltip").innerText(), /epoch begins\s+at 2\.5 ms/);
  await page.mouse.click(box.x + left + 20, box.y + row);
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
  const at = (share, y = 300) => [box.x + 96 + share * (box.width - 96), box.y + y];
  await touch(page, [[at(0.4), at(0.3), at(0.1)], [at(0.6), at(0.7), at(0.9)]]);
  const closer = (await frame(page)).view;
  assert.ok(Math.abs((closer[1] - closer[0]) / (whole[1] - whole[0]) - 0.25) < 0.02, "four times as close");
  assert.ok(Math.abs(closer[0] + closer[1] - whole[0] - whole[1]) < 0.04 * whole[1], "the middle stays");
  await touch(page, [[at(0.5), at(0.4), at(0.3)]]);
  const along = (await frame(page)).view;
  assert.ok(along[0] > closer[0]);
  assert.ok(Math.abs(along[1] - along[0] - (closer[1] - closer[0])) < 2);
  await page.getByRole("button", { name: "Show all" }).click();
  await page.touchscreen.tap(...at(0.125, await rowOf(page, kStream7)));
  await page.locator(".details").waitFor();
  await page.finish();
});
