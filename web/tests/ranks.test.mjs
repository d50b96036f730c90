import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { frame, start } from "./browser.mjs";
import { load } from "./source.mjs";
import { collectiveTrace, trainingTrace } from "./traces.mjs";

let stage;
before(async () => {
  stage = await start();
});
after(() => stage.close());

const rankTrace = (rank) => ({ ...trainingTrace(), distributedInfo: { backend: "nccl", rank, world_size: 2 } });

test("the ranks of a job stand side by side", async () => {
  const page = await stage.open(await stage.ranksReport("job", [rankTrace(0), rankTrace(1)]), { hash: "#ranks" });
  assert.deepEqual(await page.locator("tbody").first().locator("td:first-child").allInnerTexts(), ["rank 0", "rank 1"]);
  assert.match(await page.locator("canvas").first().getAttribute("aria-label"), /rank 0 idle [\d.]+ %, rank 1 idle/);
  await page.keyboard.press("1");
  await page.getByText("How each rank spent its time").waitFor();
  await page.keyboard.press("3");
  assert.match(await page.locator("tbody").innerText(), /sgemm_128x64/);
  assert.deepEqual(await page.getByRole("tab").allInnerTexts(), ["Overview", "Timeline", "Kernels", "Ranks", "Suggestions"]);
  await page.finish();
});

test("the timeline of a job has its ranks on one clock, with the arguments and the critical path of each", async () => {
  const path = await stage.ranksReport("clocks", [collectiveTrace(0, 0), collectiveTrace(1, 5_000_000)]);
  const page = await stage.open(path, { hash: "#timeline" });
  const { tracks, view } = await frame(page);
  assert.deepEqual(tracks.filter(({ pinned }) => pinned).map(({ name }) => name), ["rank 0 · GPU 0 · stream 20", "rank 1 · GPU 0 · stream 20"]);
  assert.ok(view[1] < 9e6, `a clock that is 5 s ahead is set back: ${view[1]}`);
  assert.match(await page.locator(".drawing-note").innerText(), /on one clock/);
  // The first collective of each: it begins later on rank 1, and ends together.
  const box = await page.locator("canvas").boundingBox();
  const ends = [];
  for (const { name, top } of tracks.slice(0, 2)) {
    await page.mouse.click(box.x + 220 + (650e3 / view[1]) * (box.width - 220), box.y + top + 8);
    await page.getByRole("complementary").getByText(name).waitFor();
    await page.getByRole("complementary").getByText("correlation").waitFor();
    const details = await page.getByRole("complementary").innerText();
    const [, start] = /start\s+([\d.]+) µs/.exec(details);
    const [, duration] = /duration\s+([\d.]+) µs/.exec(details);
    ends.push(Number(start) + Number(duration));
    assert.match(details, /launched by\s+cudaLaunchKernel[\s\S]*correlation\s+1/);
  }
  assert.deepEqual(ends, [700, 700]);
  const ranks = JSON.parse((await stage.blocks(path)).ranks);
  assert.deepEqual(ranks.map((rank) => [rank.label, rank.short_label]), [["rank 0", "r0"], ["rank 1", "r1"]]);
  await page.getByRole("button", { name: "Critical path" }).click();
  assert.deepEqual((await frame(page)).tracks.filter(({ name }) => name.startsWith("path")).map(({ name }) => name), ["path · rank 0", "path · rank 1"]);
  await page.finish();
});

test("a kernel of a job has its launches, on any rank, and the operators that launch it", async () => {
  const page = await stage.open(await stage.ranksReport("launches", [rankTrace(0), rankTrace(1)]), { hash: "#kernels?kernel=sgemm_128x64" });
  const list = page.locator("section", { hasText: "Its launches" });
  // Two steps each, of which the last is left out of the figures and not of the timeline.
  assert.deepEqual((await list.locator("tbody tr td:last-child").allInnerTexts()).map((track) => track.split(" · ")[0]).sort(), ["rank 0", "rank 0", "rank 1", "rank 1"]);
  await page.getByRole("button", { name: "By operator" }).click();
  const operator = page.locator("tbody tr", { hasText: "aten::mm" });
  assert.match(await operator.innerText(), /^aten::mm\s+1\s+2\s+4\.0 ms\s+\d/);
  await page.evaluate(() => { location.hash = "#kernels?kernel=sgemm_128x64"; });
  await list.locator("tbody tr", { hasText: "rank 1" }).first().locator("a").click();
  assert.match(await page.getByRole("complementary").innerText(), /sgemm_128x64[\s\S]*rank 1 · GPU 0 · stream 7/);
  await page.finish();
});

test("a rank leads to its GPU work on the timeline", async () => {
  const page = await stage.open(await stage.ranksReport("lead", [rankTrace(0), rankTrace(1)]), { hash: "#ranks" });
  const row = page.locator("tbody tr", { hasText: "rank 1" });
  const compute = (await row.locator("td").nth(3).innerText()).trim();
  await row.locator("a").click();
  const range = page.getByRole("region", { name: "Selected range" });
  assert.match(await range.innerText(), /on 2 tracks[\s\S]*rank 1 · GPU 0/);
  assert.match(await range.locator(".gpu-use").getAttribute("title"), new RegExp(`compute ${compute}`), "as the table has it");
  await page.evaluate(() => { location.hash = "#ranks"; });
  await page.locator("canvas[aria-label^='How each rank']").focus();
  for (const key of ["ArrowRight", "ArrowRight", "Enter"]) await page.keyboard.press(key);
  assert.match(await range.innerText(), /rank 1 · GPU 0/);
  await page.finish();
});

// The page takes no name apart: what is short is told by who gives the name.
test("where there is little room, tracks, counters and GPUs have the short name of their rank", async () => {
  const { joined } = await load("timeline/join.ts");
  const { Rows } = await load("canvas/rows.ts");
  const none = new Float64Array(0);
  const timeline = {
    lengthNs: 1, parts: [{ leastHostNs: 0 }], rows: new Rows(none, none, new Uint32Array(0), new Uint32Array(2)), launch: new Int32Array(0), names: [], kinds: [], classes: [], fills: [], classFills: [],
    tracks: [{ name: "GPU 0 · stream 7", shortName: "stream 7", gpu: "GPU 0", firstRow: 0, rows: 1 }], counters: [{ name: "GPU 0 · queue", shortName: "queue", times_ns: [] }], instants: [], links: [], steps: [],
  };
  const place = (label, short_label) => ({ label, short_label, suffix: "_0", start_ns: 0, clock: "first" });
  const { tracks, counters, parts } = joined([{ place: place("node one", "n1"), timeline }]);
  assert.deepEqual([tracks[0].name, tracks[0].shortName, tracks[0].rank, tracks[0].shortGpu], ["node one · GPU 0 · stream 7", "n1 stream 7", "n1", "n1 GPU 0"]);
  assert.deepEqual([counters[0].name, counters[0].shortName, parts[0].shortLabel], ["node one · GPU 0 · queue", "n1 queue", "n1"]);
});
