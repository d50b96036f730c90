// Every word on every tab can be read: 4.5 to 1 at least against what lies behind it, 3 to 1 where letters are large; light,
// dark and on a phone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "./browser.mjs";
import { contrastFaults } from "./contrast.mjs";
import { loadingTrace, shapedTrace, trainingTrace } from "./traces.mjs";

let stage;
before(async () => {
  stage = await start();
});
after(() => stage.close());

// A call that takes so long, and one that takes as long as ever.
const run = (length, at = 0) => ({
  traceEvents: Array.from({ length: 40 }, (_, i) => [
    { ph: "X", cat: "cpu_op", name: "changed", pid: 1, tid: 1, ts: i * 3000, dur: length + ((i * 7 + at * 3) % 11) },
    { ph: "X", cat: "cpu_op", name: "other", pid: 1, tid: 1, ts: i * 3000 + 2000, dur: 500 + ((i * 5 + at) % 7) },
    ...(length > 1000 ? [] : [{ ph: "X", cat: "cpu_op", name: "added", pid: 1, tid: 1, ts: i * 3000 + 2600, dur: 100 }]),
  ]).flat(),
});

const kWindows = [
  { colorScheme: "light" },
  { colorScheme: "dark" },
  { colorScheme: "dark", viewport: { width: 390, height: 800 } },
];

async function readable(path, what) {
  const faults = [];
  for (const options of kWindows) {
    const page = await stage.open(path, options);
    for (const href of await page.getByRole("tab").evaluateAll((links) => links.map((link) => link.getAttribute("href")))) {
      await page.evaluate((hash) => { location.hash = hash; }, href);
      await page.locator(`[role=tab][aria-selected=true][href="${href}"]`).waitFor();
      await page.locator("#view > :not([aria-busy])").first().waitFor();
      for (const fault of await contrastFaults(page)) faults.push([what, href, options.colorScheme, page.viewportSize().width, ...fault]);
    }
    await page.finish();
  }
  assert.deepEqual(faults, []);
}

test("every tab of a run can be read", async () => {
  await readable(await stage.report("training", trainingTrace()), "training");
  await readable(await stage.report("loading", loadingTrace()), "loading");
  await readable(await stage.report("shaped", shapedTrace()), "shaped");
});

test("the ranks and a comparison can be read", async () => {
  await readable(await stage.ranksReport("ranks", [trainingTrace(), trainingTrace()]), "ranks");
  const five = (length) => [0, 1, 2, 3, 4].map((at) => run(length, at));
  await readable(await stage.comparison("compared", five(1500), five(900)), "faster");
  await readable(await stage.comparison("slower", [run(900)], [run(1500)]), "suspect");
});
