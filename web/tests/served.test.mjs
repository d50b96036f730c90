// The page of the real program: `fathom serve --demo` on a folder with a trace.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { overflow, start, until } from "./browser.mjs";
import { trainingTrace } from "./traces.mjs";

let stage;
let server; // the process
let address; // as it is printed, with the token
before(async () => {
  stage = await start();
  const traces = join(stage.folder, "traces");
  await mkdir(join(traces, "ranks"), { recursive: true });
  await writeFile(join(traces, "ranks", "rank 0.json"), JSON.stringify(trainingTrace()));
  await writeFile(join(traces, "notes.txt"), "not a trace");
  await writeFile(join(stage.folder, "fathom.yaml"), "gpu_profiler:\n  monitoring_interval_seconds: 0.2\n");
  const options = ["serve", "traces", "--demo", "--port", "0", "--config", "fathom.yaml", "--audit-log", "audit.jsonl", "--upload-limit", "1"];
  server = spawn(process.env.FATHOM_PROGRAM, options, { cwd: stage.folder, stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((found, failed) => {
    let said = "";
    server.stdout.on("data", (text) => {
      said += text;
      const match = said.match(/http:\S+#token=\S+/);
      if (match) found(match[0]);
    });
    server.on("exit", () => failed(new Error(`fathom serve ended: ${said}`)));
  });
});
after(async () => {
  server.kill();
  await stage.close();
});

// The tests after the first have its login.
let cookies;
const visit = (hash, options = {}) => stage.visit(new URL(hash, address).href, { cookies, ...options });

test("the printed address logs in and shows the demo, which goes on", async () => {
  const page = await stage.visit(address);
  await page.locator("#gpu-1").waitFor();
  cookies = await page.context().cookies();
  assert.ok(!page.url().includes("token"));
  assert.match(await page.locator("h1").innerText(), /^2 GPUs, \d+ % busy on average\./);
  assert.equal(await page.locator("header .tag.demo").innerText(), "demo");
  assert.match(await page.locator("#gpu-0").innerText(), /Demo GPU 0[\s\S]*GB of 80 GB[\s\S]*°C[\s\S]*W of 400 W[\s\S]*MHz/);
  await page.evaluate(() => { window.first = document.querySelector(".story p").textContent + document.querySelector("#gpu-0").textContent; });
  await until(page, () => document.querySelector(".story p").textContent + document.querySelector("#gpu-0").textContent !== window.first);
  await until(page, () => /: \d+ % to \d+ %/.test(document.querySelector(".trend [role=img]").ariaLabel));
  assert.match(await page.locator(".data tbody").innerText(), /train/);
  await page.finish();
});

test("a session is started, stopped and reported", async () => {
  const page = await visit("#sessions");
  await page.getByLabel("Name").fill("from the page");
  await page.getByLabel("Interval, s").fill("0.1");
  await page.keyboard.press("Enter");
  await page.locator("tr", { hasText: "from the page" }).getByText("running").waitFor();
  await page.waitForTimeout(1000);
  await page.getByRole("button", { name: "Stop from the page" }).click();
  await page.locator("tr", { hasText: "from the page" }).getByText("stopped").waitFor();
  await page.getByRole("link", { name: "from the page" }).click();
  await page.getByRole("heading", { name: "from the page" }).waitFor();
  assert.equal(await page.locator(".trend canvas").count(), 8);
  assert.match(await page.locator(".metric-tables").innerText(), /utilisation[\s\S]*temperature[\s\S]*°C/);
  await page.setViewportSize({ width: 360, height: 740 });
  assert.equal(await overflow(page), 0);
  await page.finish();
});

test("a trace of the folder opens as its report, with a way back", async () => {
  const page = await visit("#files");
  await page.getByText("of at most 1 MB").waitFor();
  assert.equal(await page.getByRole("link", { name: "notes.txt" }).count(), 0);
  await page.getByRole("link", { name: "ranks/rank 0.json" }).click();
  await page.getByText("The GPU computed").waitFor();
  await page.getByRole("tab", { name: "Timeline" }).click();
  await page.getByRole("link", { name: "All traces" }).click();
  await page.getByRole("link", { name: "ranks/rank 0.json" }).waitFor();
  await page.finish();
});

test("an upload is in the list and opens; one that is too large is refused", async () => {
  const page = await visit("#files");
  const choose = (name, buffer) => page.getByLabel("Trace to upload").setInputFiles({ name, mimeType: "application/json", buffer });
  await choose("mine.json", Buffer.from(JSON.stringify(trainingTrace())));
  await page.getByText("mine.json is there.").waitFor();
  await choose("large.json", Buffer.alloc(2 ** 20 + 1, " "));
  await page.getByRole("alert").getByText("the server takes at most 1 MB").waitFor();
  await page.locator("tbody").getByRole("link", { name: "mine.json" }).click();
  await page.getByText("The GPU computed").waitFor();
  await page.finish();
});

test("without a login the page carries no data, and a wrong token is refused", async () => {
  const page = await stage.visit(new URL("/trace/ranks%2Frank%200.json", address).href, { expected: /status of 401/ });
  await page.getByRole("textbox", { name: "Token" }).fill("wrong");
  await page.keyboard.press("Enter");
  await page.locator(".refused:not(:empty)").waitFor();
  await page.getByRole("textbox", { name: "Token" }).fill(new URL(address).hash.replace("#token=", ""));
  await page.keyboard.press("Enter");
  await page.getByText("The GPU computed").waitFor();
  await page.finish();
});

test("a server that ends is said", async () => {
  const page = await visit("", { expected: /Failed to load resource|net::ERR/ });
  await page.locator("#gpu-0").waitFor();
  server.kill();
  await page.getByText("No connection to the server since").waitFor();
  await page.finish();
});
