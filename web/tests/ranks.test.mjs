import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "./browser.mjs";
import { trainingTrace } from "./traces.mjs";

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
  await page.keyboard.press("2");
  assert.match(await page.locator("tbody").innerText(), /sgemm_128x64/);
  assert.deepEqual(await page.getByRole("tab").allInnerTexts(), ["Overview", "Kernels", "Ranks", "Suggestions"]);
  await page.finish();
});
