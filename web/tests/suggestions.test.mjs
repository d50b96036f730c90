import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "./browser.mjs";
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
  assert.match(await first.locator(".gain").innerText(), /−\d+\.\d %[\s\S]*critical/);
  assert.match(await first.locator("pre").innerText(), /num_workers=4/);
  assert.match(await first.locator(".range").getAttribute("aria-label"), /% to .* %/);
  const link = first.locator(".evidence a").first();
  assert.match(await link.getAttribute("href"), /^#timeline\?span=\d+$/);
  await link.click();
  await page.locator("[role=tab][aria-selected=true][href='#timeline']").waitFor();
  const details = page.locator("[aria-label='Selected span']");
  await details.waitFor();
  assert.match(await details.innerText(), /enumerate\(DataLoader\)/);
  await page.finish();
});

test("where there is nothing to suggest, the page says so", async () => {
  const page = await stage.open(await stage.ranksReport("job", [loadingTrace(), loadingTrace()]), { hash: "#suggestions" });
  await page.getByText("no suggestions").waitFor();
  await page.finish();
});
