// The pages of `flame`, `timeline` and `memory`: each opens on its own tab.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { frame, start } from "./browser.mjs";
import { hostTrace, trainingTrace } from "./traces.mjs";

let stage;
before(async () => {
  stage = await start();
});
after(() => stage.close());

const tab = (page) => page.locator("[role=tab][aria-selected=true]").getAttribute("href");

for (const command of ["flame", "timeline"]) {
  test(`fathom ${command} -o opens on the ${command}`, async () => {
    const page = await stage.open(await stage.pageOf(command, "training", trainingTrace()));
    assert.equal(await tab(page), `#${command}`);
    assert.ok((await frame(page)).rectangles > 3);
    await page.finish();
  });
}

test("fathom memory -o opens on the memory of a trace", async () => {
  const page = await stage.open(await stage.pageOf("memory", "training", trainingTrace()));
  assert.equal(await tab(page), "#memory");
  assert.match(await page.locator(".cards").innerText(), /Peak[\s\S]*200 MB/);
  assert.deepEqual(await page.getByRole("tab").allInnerTexts(), ["Overview", "Kernels", "Memory", "Suggestions"], "no tab without content");
  await page.keyboard.press("1");
  assert.match(await page.locator("h1").innerText(), /^The GPU computed/);
  await page.finish();
});

test("fathom memory -o of a recorded program shows the host's", async () => {
  const page = await stage.open(await stage.recordedMemory("sleep", "sleep", "0.3"));
  assert.equal(await tab(page), "#memory");
  assert.ok(await page.locator("canvas[aria-label*='host']").first().isVisible());
  await page.finish();
});

test("fathom memory -o of a trace without any says so", async () => {
  const page = await stage.open(await stage.pageOf("memory", "host", hostTrace()));
  assert.equal(await tab(page), "#memory");
  await page.getByText("no memory events").waitFor();
  await page.finish();
});
