import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { frame, start } from "./browser.mjs";
import { loadingTrace } from "./traces.mjs";

let stage;
before(async () => {
  stage = await start();
});
after(() => stage.close());

test("suggestions stand with their gain, and their evidence leads to the timeline", async () => {
  const page = await stage.open(await stage.report("loading", loadingTrace()), { hash: "#suggestions" });
  const first = page.locator(".suggestion").first();
  assert.match(await first.innerText(), /Load data in worker processes/);
  assert.match(await first.locator(".gain").innerText(), /saves \d+\.\d %[\s\S]*critical/);
  assert.match(await first.locator("pre").innerText(), /num_workers=4/);
  assert.match(await first.locator(".before-after").getAttribute("aria-label"), /^now [\d.]+ ms, then [\d.]+ ms, [\d.]+ % to [\d.]+ % less$/);
  const width = (name) => first.locator(`.before-after i.${name}`).evaluate((bar) => bar.getBoundingClientRect().width);
  const saved = Number(/saves ([\d.]+) %/.exec(await first.locator(".gain > b").innerText())[1]);
  assert.ok(Math.abs((await width("then")) / (await width("now")) - (1 - saved / 100)) < 0.01, "the bars are to scale");
  const link = first.locator(".evidence a").first();
  assert.match(await link.getAttribute("href"), /^#timeline\?span=\d+$/);
  const [, at, unit] = /at ([\d.]+) (ns|ms)/.exec(await link.innerText());
  const from = Number(at) * (unit === "ms" ? 1e6 : 1);
  await link.click();
  await page.locator("[role=tab][aria-selected=true][href='#timeline']").waitFor();
  const details = page.locator("[aria-label='Selected span']");
  await details.waitFor();
  assert.match(await details.innerText(), /enumerate\(DataLoader\)/);
  // Its time is in view, and its row is above what is written below the canvas.
  const { view, tracks } = await frame(page);
  assert.ok(view[0] <= from + 1e5 && from + 2.9e6 <= view[1] && view[1] - view[0] < 100e6, `${from} in ${view}`);
  const lane = tracks.find(({ name }) => name.startsWith("annotations"));
  assert.ok(lane.top > 50 && lane.top + lane.height <= (await page.locator("canvas").boundingBox()).height);
  await page.finish();
});

test("evidence is in view, however far down its link was, and a suggestion that is linked to stands out", async () => {
  const page = await stage.open(await stage.report("far", loadingTrace()), { viewport: { width: 900, height: 420 } });
  const link = page.locator(".tries a").first();
  const title = await link.innerText();
  await link.click();
  const asked = page.locator(".suggestion.asked");
  assert.equal(await asked.locator("h3").innerText(), title);
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await asked.locator(".evidence a").last().click();
  await page.locator("[aria-label='Selected span']").waitFor();
  assert.equal(await page.evaluate(() => scrollY), 0);
  const { bottom } = await page.locator(".drawing canvas").first().evaluate((canvas) => canvas.getBoundingClientRect());
  assert.ok(bottom <= 420, `the drawing ends at ${bottom}`);
  await page.finish();
});

test("the ranks of a job have the suggestions that their overview has", async () => {
  const page = await stage.open(await stage.ranksReport("job", [2000, 3000].map((load, rank) => ({ ...loadingTrace(load), distributedInfo: { rank, world_size: 2 } }))), { hash: "#overview" });
  const tries = await page.locator(".tries li b").allInnerTexts();
  assert.ok(tries.length > 0);
  assert.match(await page.locator(".tries li").first().innerText(), /Load data in worker processes \(saves [\d.]+ % on 2 of 2 ranks\)/);
  await page.evaluate(() => { location.hash = "#suggestions"; });
  await page.locator(".suggestion").first().waitFor();
  assert.deepEqual(await page.locator(".suggestion h3").allInnerTexts(), tries);
  const first = page.locator(".suggestion").first();
  assert.match(await first.innerText(), /on 2 of 2 ranks[\s\S]*rank 1: [\s\S]*num_workers/, "rank 1 would save more");
  assert.match(await first.locator(".before-after").getAttribute("aria-label"), /^now [\d.]+ ms, then [\d.]+ ms/);
  // What the terminal says of the same files, the page says, in the same order.
  const { stdout } = await promisify(execFile)(process.env.FATHOM_PROGRAM, ["hta", ...[0, 1].map((rank) => join(stage.folder, `job_${rank}.json`))]);
  const told = await page.locator(".suggestion").evaluateAll((all) => all.map((one) => [one.querySelector("h3").innerText, one.querySelector(".gain > b").innerText]));
  let from = 0;
  for (const [title, gain] of told) {
    const at = stdout.indexOf(title, from);
    assert.ok(at >= 0, `${title} in ${stdout}`);
    if (gain !== "–") assert.ok(stdout.slice(at, at + 200).includes(gain), `${gain} of ${title} in ${stdout}`);
    from = at;
  }
  await first.locator(".evidence a").first().click();
  assert.match(await page.locator("[aria-label='Selected span']").innerText(), /enumerate\(DataLoader\)[\s\S]*duration\s+3\.0 ms[\s\S]*track\s+rank 1/);
  await page.finish();
});
