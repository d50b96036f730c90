import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { overflow, start } from "./browser.mjs";
import { alert, fakeServer, gpu, pastOf, session } from "./fake_server.mjs";

let stage;
before(async () => { stage = await start(); });
after(() => stage.close());

const kRefused = /status of 4\d\d/;

test("a session is started and stopped from the page", async () => {
  const server = await fakeServer();
  const page = await stage.visit(`${server.url}#sessions`, { cookies: server.cookies, expected: kRefused });
  await page.getByText("None yet.").waitFor();
  await page.getByLabel("Name").fill("epoch 3");
  await page.getByLabel("Description").fill("batch 256");
  await page.getByLabel("Interval, s").fill("0.1");
  await page.getByText("Limits and contents of its own").click();
  await page.getByLabel("Temperature, warning, °C").fill("70");
  await page.getByLabel("Power").uncheck();
  await page.getByRole("button", { name: "Start" }).click();
  const row = page.locator("tbody tr").first();
  await row.getByText("running").waitFor();
  assert.match(await row.innerText(), /epoch 3\s*batch 256/);
  assert.deepEqual(server.world.lastSettings, { monitoring_interval_seconds: 0.1, temperature_warning_celsius: 70, enable_power_monitoring: false });
  assert.equal(await page.getByLabel("Name").inputValue(), "", "ready for the next");

  await page.getByLabel("Name").fill("epoch 3");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("alert").getByText("runs already").waitFor();

  await page.getByRole("button", { name: "Stop epoch 3" }).click();
  await row.getByText("stopped").waitFor();
  assert.match(await row.innerText(), /1 min 30 s/);
  assert.equal(await page.getByRole("button", { name: "Stop epoch 3" }).count(), 0);
  await page.finish();
});

test("a session that somebody else starts appears", async () => {
  const server = await fakeServer();
  const page = await stage.visit(`${server.url}#sessions`, { cookies: server.cookies });
  await page.getByText("None yet.").waitFor();
  for (let tries = 0; server.listeners() === 0 && tries < 200; ++tries) await page.waitForTimeout(25);
  server.world.sessions = [session("9", { name: "from elsewhere" })];
  server.tell("session", server.world.sessions[0]);
  await page.getByRole("link", { name: "from elsewhere" }).waitFor();
  await page.finish();
});

const devices = [gpu(0), gpu(1)];
const range = (least, mean, most) => ({ least, mean, most });
const finished = {
  sessions: [
    session("2", {
      name: "serving", description: "two streams", stopped_ns: Date.UTC(2027, 0, 15, 10, 12, 4) * 1e6, alerts: 1,
      inference: { count: 1200, sum_ms: 14100, mean_ms: 11.75, min_ms: 8.1, max_ms: 104.2, p50_ms: 11, p95_ms: 17.7, p99_ms: 48.9 },
    }),
    session("1", { name: "overnight", was_interrupted: true, stopped_ns: Date.UTC(2027, 0, 15, 10, 1, 0) * 1e6 }),
  ],
  reports: {
    2: {
      alerts: [alert(1, { cleared_ns: Date.UTC(2027, 0, 15, 10, 0, 43) * 1e6 }), alert(2, { message: "slows itself down" })],
      history: pastOf(devices, 300, 1000),
      metrics: { "GPU-0": { utilization_percent: range(22, 60.3, 98), memory_used_bytes: range(2 ** 30, 2 ** 31, 2 ** 32), core_clock_hz: range(1.2e9, 1.38e9, 1.41e9) }, "GPU-1": {} },
      suggestions: [{ kind: "low_utilization", title: "Feed the GPU faster", detail: "Raise the batch size.", evidence: "utilisation 60.3 % on average, 300 samples" }],
    },
  },
};

test("a report has its trends, figures, alerts, inference and advice with evidence", async () => {
  const server = await fakeServer(finished);
  const page = await stage.visit(`${server.url}#sessions`, { cookies: server.cookies });
  await page.getByRole("link", { name: "serving" }).click();
  await page.getByRole("heading", { name: "serving" }).waitFor();
  assert.match(await page.locator(".story").innerText(), /two streams · 15 Jan 2027[\s\S]*12 min 4 s · 120 samples of 2 GPUs · 1 alert/);
  assert.match(await page.locator(".cards").innerText(), /Inferences\s*1,200[\s\S]*11\.8 ms[\s\S]*8\.1 ms – 104 ms[\s\S]*17\.7 ms[\s\S]*48\.9 ms/);
  assert.equal(await page.locator(".trend canvas").count(), 8);
  assert.match(await page.locator(".advice").innerText(), /Feed the GPU faster[\s\S]*Raise the batch size\.[\s\S]*300 samples/);
  assert.match(await page.locator(".alert-table tbody").innerText(), /limit of 80 °C[\s\S]*43 s[\s\S]*slows itself down[\s\S]*until the end/);
  assert.match(await page.locator(".metric-tables").innerText(), /utilisation\s*22\.0 %\s*60\.3 %\s*98\.0 %[\s\S]*memory used\s*1 GB\s*2 GB\s*4 GB[\s\S]*core clock\s*1,200 MHz/);
  await page.setViewportSize({ width: 360, height: 740 });
  assert.equal(await overflow(page), 0);
  await page.getByRole("link", { name: "All sessions" }).click();
  await page.getByRole("link", { name: "overnight" }).waitFor();
  assert.equal(await overflow(page), 0);
  await page.finish();
});

test("an interrupted session is marked, in the list and in its report", async () => {
  const server = await fakeServer(finished);
  const page = await stage.visit(`${server.url}#sessions`, { cookies: server.cookies });
  await page.locator("tr", { hasText: "overnight" }).getByText("interrupted").waitFor();
  await page.getByRole("link", { name: "overnight" }).click();
  await page.getByText("The server ended while this session ran.").waitFor();
  await page.getByText("Nothing stood out.").waitFor();
  await page.finish();
});

test("a running session's report can be stopped there", async () => {
  const server = await fakeServer({ sessions: [session("1", { name: "now" })], reports: { 1: { history: pastOf(devices, 60, 1000) } } });
  const page = await stage.visit(`${server.url}#sessions/1`, { cookies: server.cookies });
  await page.getByText("so far").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator("h1").getByText("stopped").waitFor();
  await page.finish();
});

test("a session that is not there is said", async () => {
  const server = await fakeServer();
  const page = await stage.visit(`${server.url}#sessions/77`, { cookies: server.cookies, expected: kRefused });
  await page.getByText("There is no session '77'.").waitFor();
  await page.finish();
});
