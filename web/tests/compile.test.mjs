import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { start } from "./browser.mjs";
import { trainingTrace } from "./traces.mjs";

// Two versions of one function: the first breaks the graph, the second was made because a guard failed.
const id = (version) => `"frame_id": 0, "frame_compile_id": ${version}, "attempt": 0`;
const record = (json) => `V0721 16:11:45.671000 98102 torch/_dynamo/utils.py:1900] {${json}}\n`;
const stack = `"dynamo_start": {"stack": [{"line": 90, "name": "main", "filename": 0, "loc": "step(x)"}, {"line": 31, "name": "step", "filename": 0, "loc": "net(x)"}]}`;
const metrics = (version, us) =>
  record(`"compilation_metrics": {"co_name": "forward", "co_filename": "/me/model.py", "co_firstlineno": 29, "cache_size": ${version}, "dynamo_cumulative_compile_time_us": ${us}, "aot_autograd_cumulative_compile_time_us": ${us / 2}, "inductor_cumulative_compile_time_us": ${us / 4}}, ${id(version)}`);
const log = [
  record('"str": ["/me/train.py", 0]'),
  record(`${stack}, ${id(0)}`),
  record(`"artifact": {"name": "dynamo_graph_break_reason", "encoding": "string"}, ${id(0)}`),
  "\tGraph break in user code at /me/model.py:31\n\tGraph Break Reason: builtin: print\n\tUser code traceback:\n\t  File \"/me/model.py\", line 31, in forward\n\t    print(x)\n",
  metrics(0, 2_000_000),
  record(`"artifact": {"name": "recompile_reasons", "encoding": "json"}, ${id(1)}`),
  "\t[\"0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3\"]\n",
  record(`${stack}, ${id(1)}`),
  metrics(1, 1_000_000),
].join("");

let stage;
before(async () => {
  stage = await start();
});
after(() => stage.close());

async function pageOf(name, ...more) {
  const input = join(stage.folder, `${name}.log`);
  const output = join(stage.folder, `${name}.html`);
  await writeFile(input, log);
  await promisify(execFile)(process.env.FATHOM_PROGRAM, ["compile", input, ...more, "-o", output]);
  return output;
}

test("the logs alone are a page with one tab: lines, compilations, faults", async () => {
  const page = await stage.open(await pageOf("logs"));
  assert.deepEqual(await page.getByRole("tab").allInnerTexts(), ["Compile"]);
  assert.match(await page.locator("h1").innerText(), /Compiling took 3\.00 s: 1 function, 2 compilations/);
  const rows = await page.locator(".compile-tree tbody tr").allInnerTexts();
  assert.equal(rows.length, 3);
  assert.match(rows[0], /main → step train\.py:31[\s\S]*3\.00 s/);
  assert.match(rows[1], /\[0\/0\] forward model\.py:29[\s\S]*2\.00 s[\s\S]*graph break/);
  assert.match(rows[2], /\[0\/1\] forward[\s\S]*compiled again/);
  const bar = page.locator(".compile-tree .bar").nth(1);
  assert.equal(await bar.getAttribute("aria-label"), "Dynamo 1.00 s, AOT autograd 500.0 ms, Inductor 500.0 ms");
  const faults = await page.locator(".fault").allInnerTexts();
  assert.match(faults[0], /forward at model\.py:31[\s\S]*builtin: print[\s\S]*Move the print out[\s\S]*print\(x\)/);
  assert.match(faults[1], /1\.00 s[\s\S]*size mismatch[\s\S]*dynamic=True/);
  await page.finish();
});

test("a compilation that is chosen tells why it was made", async () => {
  const page = await stage.open(await pageOf("chosen"));
  await page.getByRole("button", { name: "[0/1] forward" }).click();
  const panel = page.locator(".panel", { has: page.getByRole("heading", { name: "Chosen compilation" }) });
  assert.match(await panel.innerText(), /Guards that failed[\s\S]*size mismatch/);
  assert.match(await panel.innerText(), /Called from[\s\S]*train\.py:90[\s\S]*step\(x\)/);
  await page.finish();
});

test("with a trace the tab stands beside the others, and the page opens on it", async () => {
  const trace = join(stage.folder, "trace.json");
  await writeFile(trace, JSON.stringify(trainingTrace()));
  const page = await stage.open(await pageOf("trace", "--trace", trace));
  const tabs = await page.getByRole("tab").allInnerTexts();
  assert.ok(tabs.includes("Compile") && tabs.includes("Timeline"));
  await page.finish();
});

test("a report without logs says how to get them", async () => {
  const page = await stage.open(await stage.report("none", trainingTrace()), { hash: "#compile" });
  assert.match(await page.locator("#view").innerText(), /TORCH_TRACE=logs/);
  await page.finish();
});
