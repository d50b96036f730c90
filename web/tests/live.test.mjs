import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { overflow, start, until } from "./browser.mjs";
import { alert, fakeServer, gpu, pastOf } from "./fake_server.mjs";

let stage;
before(async () => { stage = await start(); });
after(() => stage.close());

// A page of a server with this world, logged in.
async function live(world, options = {}) {
  const server = await fakeServer(world);
  const page = await stage.visit(server.url + (options.hash ?? ""), { cookies: server.cookies, ...options });
  return { server, page, block: (index) => page.locator(`#gpu-${index}`) };
}

const kNetworkFailures = /Failed to load resource|net::ERR/;

test("figures change as samples come", async () => {
  const { server, page, block } = await live({});
  await page.getByText("2 GPUs, 50 % busy on average. All is well.").waitFor();
  assert.match(await block(0).innerText(), /50 %[\s\S]*20 GB of 80 GB[\s\S]*60 °C slows at 92[\s\S]*200 W of 400 W/);
  server.sample({ devices: [gpu(0, { utilization_percent: 97, memory_used_bytes: 75 * 2 ** 30 }), gpu(1)] });
  await block(0).getByText("97 %").waitFor();
  await block(0).getByText("75 GB").waitFor();
  await page.getByText("74 % busy").waitFor();
  const bar = await block(0).locator("[data-metric=utilization_percent] .level i").evaluate((element) => element.style.transform);
  assert.equal(bar, "scaleX(0.97)");
  assert.match(await block(0).locator(".rest").innerText(), /1,410 of 1,410 MHz[\s\S]*Memory errors\s*none[\s\S]*Throttling\s*none/);
  await page.finish();
});

test("a figure that is not known is a dash or absent, never 0", async () => {
  const bare = { index: 0, uuid: "cl-0", name: "An OpenCL device", vendor: "Other", type: "gpu", backend: "opencl", state: "ok", processes: [] };
  const { server, page, block } = await live({ devices: [bare] });
  await block(0).getByText("Its driver tells no figures.").waitFor();
  assert.equal(await block(0).locator(".meter").count(), 0);
  server.sample({ devices: [{ ...bare, utilization_percent: 12 }] });
  await block(0).getByText("12 %").waitFor();
  server.sample({ devices: [bare] });
  await block(0).getByText("–").waitFor();
  assert.equal(await block(0).getByText("0 %", { exact: true }).count(), 0);
  await page.finish();
});

test("alerts appear, colour what they are about, and go", async () => {
  const { server, page, block } = await live({});
  await block(0).waitFor();
  assert.equal(await page.locator(".alert").count(), 0);
  server.sample({ alerts: [alert(1), alert(2, { severity: "critical", kind: "memory", uuid: "GPU-1", device: "Test GPU 1", message: "is full" })] });
  await page.locator(".alert").nth(1).waitFor();
  assert.match(await page.locator(".alert").first().innerText(), /critical[\s\S]*GPU 1[\s\S]*is full\./, "the gravest first");
  assert.match(await block(0).locator("[data-metric=temperature_celsius]").getAttribute("class"), /warn/);
  assert.match(await block(1).locator("[data-metric=memory_used_bytes]").getAttribute("class"), /bad/);
  await until(page, () => document.title.startsWith("(2) Live"));
  await page.locator("[aria-live]").getByText(/Alert, warning, Test GPU 0: 84 °C, at or above/).waitFor();
  await page.getByRole("button", { name: "GPU 1" }).click();
  const cleared = (server.world.time + 42_000) * 1e6;
  server.sample({ alerts: server.world.alerts.map((one) => ({ ...one, cleared_ns: cleared })) });
  await page.getByText("All is well.").waitFor();
  assert.equal(await page.locator(".alert").count(), 0);
  assert.match(await page.locator(".alert-table tbody").innerText(), /is full[\s\S]*43 s/);
  await page.locator("[aria-live]").getByText(/Cleared, Test GPU 0: 84 °C/).waitFor();
  await page.finish();
});

test("an alert is shown when it is raised, not only with the next sample", async () => {
  const { server, page } = await live({});
  await page.locator(".device").first().waitFor();
  server.tell("alert", alert(7));
  await page.getByText("limit of 80 °C").first().waitFor();
  await page.finish();
});

test("a GPU that vanishes stays as lost, and is the same when it returns", async () => {
  const { server, page, block } = await live({});
  await block(1).waitFor();
  server.sample({ devices: [gpu(0), gpu(1, { state: "lost", age_seconds: 12 })], alerts: [alert(1, { kind: "device_lost", severity: "critical", uuid: "GPU-1", message: "does not answer any more" })] });
  await block(1).getByText("lost", { exact: true }).waitFor();
  await block(1).getByText("It was here and does not answer any more.").waitFor();
  await page.getByText("2 GPUs, 50 % busy. 1 lost, 1 alert.").waitFor();
  await page.locator("[aria-live]").getByText(/GPU 1, Test GPU 1, is lost\./).waitFor();
  server.sample({ devices: [gpu(0), gpu(1)], alerts: [] });
  await page.getByText("All is well.").waitFor();
  assert.equal(await page.locator(".chip").count(), 0);
  await page.locator("[aria-live]").getByText(/GPU 1, Test GPU 1, is back\./).waitFor();
  await page.finish();
});

test("states, old figures, throttling and errors are said", async () => {
  const { page, block } = await live({
    devices: [
      gpu(0, { state: "suspended" }),
      gpu(1, { state: "no_permission" }),
      gpu(2, { age_seconds: 14, throttle: ["hardware_thermal", "power_cap"], ecc_uncorrected: 3, ecc_corrected: 1200 }),
    ],
  });
  await block(0).getByText("asleep").first().waitFor();
  await block(1).getByText("no permission").waitFor();
  await block(2).getByText("figures are 14 s old").waitFor();
  assert.match(await block(2).locator("dd.bad").first().innerText(), /1,200 corrected, 3 uncorrected/);
  assert.match(await block(2).locator("dd.bad").nth(1).innerText(), /too hot \(hardware\), power limit/);
  await page.finish();
});

test("no GPU is said calmly, with what was tried", async () => {
  const { page } = await live({ devices: [], backends: [{ name: "nvml", is_up: false, problem: "libnvidia-ml.so.1 is not installed", look_seconds: 0 }] });
  await page.getByRole("heading", { name: "No GPU found." }).waitFor();
  await page.getByText("libnvidia-ml.so.1 is not installed").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  await page.finish();
});

test("the demo is named as such on every tab", async () => {
  const { page } = await live({ demo: true });
  await page.getByText("Demo: these GPUs do not exist").waitFor();
  for (const key of ["1", "2", "3"]) {
    await page.keyboard.press(key);
    assert.equal(await page.locator("header .tag.demo").innerText(), "demo");
  }
  await page.finish();
});

test("a server that is gone is said and asked again; what was missed is there when it is back", async () => {
  const { server, page, block } = await live({}, { expected: kNetworkFailures });
  await block(0).waitFor();
  await server.gone();
  await page.getByText("No connection to the server since").waitFor();
  assert.ok(await block(0).isVisible(), "the last figures stay");
  server.world.devices = [gpu(0, { utilization_percent: 7 }), gpu(1)];
  await server.back();
  await block(0).getByText("7 %", { exact: true }).waitFor();
  assert.equal(await page.getByText("No connection").count(), 0);
  assert.ok(server.requests.some((request) => /history\?seconds=\d+/.test(request)), "it asks for what it missed");
  await page.finish();
});

test("a login that the server forgot leads back to the login", async () => {
  const { server, page, block } = await live({}, { expected: kNetworkFailures });
  await block(0).waitFor();
  await server.gone();
  await page.context().clearCookies();
  await server.back();
  await page.getByRole("textbox", { name: "Token" }).waitFor();
  await page.finish();
});

test("a hidden page asks nothing, and goes on when it is shown", async () => {
  const { server, page, block } = await live({});
  await block(0).waitFor();
  const show = (isHidden) => page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
  await show(true);
  for (let tries = 0; server.listeners() > 0 && tries < 200; ++tries) await page.waitForTimeout(25);
  assert.equal(server.listeners(), 0);
  server.sample({ devices: [gpu(0, { utilization_percent: 33 }), gpu(1)] });
  await show(false);
  await block(0).getByText("33 %").waitFor();
  await page.finish();
});

test("trends show the server's history, and the instant under the pointer in all of them", async () => {
  const devices = [gpu(0), gpu(1)];
  const { page, block } = await live({ history: pastOf(devices, 900, 1000) }, { timezoneId: "UTC" });
  const trend = block(0).locator("[data-metric=utilization_percent] .trend");
  await until(page, () => document.querySelector(".trend [role=img]")?.ariaLabel?.includes("22 % to 98 %"));
  await trend.hover({ position: { x: 200, y: 20 } });
  await until(page, () => [...document.querySelectorAll(".trend output")].filter((output) => /·/.test(output.textContent)).length === 8);
  assert.match(await trend.locator("output").innerText(), /^\d+ % · \d\d:\d\d:\d\d$/);
  await page.getByRole("button", { name: "1 min" }).click();
  await until(page, () => document.querySelector(".trend [role=img]").ariaLabel.includes("09:59:00 to 10:00:00"));
  await page.finish();
});

test("old figures are a gap in the trend, and a clock that is set back begins anew", async () => {
  const { server, page } = await live({});
  await page.locator(".trend canvas").first().waitFor();
  const label = () => page.locator("#gpu-0 .trend [role=img]").first().getAttribute("aria-label");
  server.sample({ devices: [gpu(0, { utilization_percent: 90, age_seconds: 60 }), gpu(1)] });
  server.sample({ devices: [gpu(0, { utilization_percent: 40 }), gpu(1)] });
  await until(page, () => document.querySelector("#gpu-0 .trend [role=img]").ariaLabel.includes("40 %"));
  assert.match(await label(), /: 40 % to 50 %$/, "90 % was not measured then");
  server.world.time -= 3_600_000;
  server.sample({ devices: [gpu(0, { utilization_percent: 20 }), gpu(1)] });
  await until(page, () => document.querySelector("#gpu-0 .trend [role=img]").ariaLabel.includes("20 %"));
  assert.match(await label(), /: 20 % to 20 %$/);
  await page.finish();
});

test("processes sort and filter, and stay where they were scrolled to", async () => {
  const many = Array.from({ length: 60 }, (_, at) => ({ pid: 5000 + at, name: at === 7 ? "worker-seven" : "worker", memory_bytes: (60 - at) * 2 ** 28 }));
  const { server, page } = await live({ devices: [gpu(0, { processes: many }), gpu(1, { processes_are_partial: true })] });
  await page.getByText("61 processes").waitFor();
  await page.getByText("those of other users may be missing").waitFor();
  const scroller = page.locator(".data .scroller");
  await scroller.evaluate((element) => element.scrollTo(0, 600));
  server.sample();
  server.sample();
  await page.waitForTimeout(1200);
  assert.equal(await scroller.evaluate((element) => element.scrollTop), 600);
  await page.getByRole("button", { name: "pid" }).click();
  await page.locator(".data tbody tr:not(.spacer)").first().getByText("5059").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("seven");
  await page.getByText("1 of 61 processes").waitFor();
  await page.getByRole("searchbox").fill("");
  await page.getByRole("combobox", { name: "GPU" }).selectOption("1");
  await page.getByText("1 process", { exact: true }).waitFor();
  assert.match(await page.locator(".data tbody").innerText(), /train1\s*python train\.py --rank 1/);
  await page.finish();
});

test("names that look like code are text", async () => {
  const evil = "<img src=x onerror=window.evil=1>";
  const { page } = await live({
    devices: [gpu(0, { name: evil, processes: [{ pid: 1, name: evil, command: evil }] })],
    alerts: [alert(1, { message: evil, cause: evil, device: evil })],
  });
  await page.getByText(evil).first().waitFor();
  await page.finish();
});

for (const count of [1, 4, 16]) {
  test(`${count} GPUs fit a phone and a wide window`, async () => {
    const devices = Array.from({ length: count }, (_, index) => gpu(index, { name: "NVIDIA H100 80GB HBM3 with a long name that nobody reads" }));
    const { page, block } = await live({ devices, alerts: [alert(1)], history: pastOf(devices, 300, 1000) });
    for (const width of [360, 700, 1280, 2200]) {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForTimeout(50);
      assert.equal(await overflow(page), 0, `wider than ${width} px`);
    }
    assert.ok(await block(count - 1).isVisible());
    await page.finish();
  });
}

test("ten samples per second of sixteen GPUs are drawn without layout of the page", async () => {
  const devices = Array.from({ length: 16 }, (_, index) => gpu(index));
  const { server, page } = await live({ devices, interval: 0.1, history: pastOf(devices, 6000, 100) });
  await page.locator(".trend canvas").nth(63).waitFor({ state: "attached" });
  const heightOf = () => page.evaluate(() => document.documentElement.scrollHeight);
  const before = await heightOf();
  for (let step = 0; step < 30; ++step) {
    server.sample({ devices: devices.map((one, at) => ({ ...one, utilization_percent: (step * 7 + at) % 100, memory_used_bytes: step * 2 ** 30 })) });
    await page.waitForTimeout(20);
  }
  await until(page, () => document.querySelector("[data-metric=memory_used_bytes] b").textContent === "29 GB");
  assert.equal(await heightOf(), before);
  await page.finish();
});

test("who prefers less motion sees one sample per second at most", async () => {
  const { server, page, block } = await live({ interval: 0.1 }, { reducedMotion: "reduce" });
  await block(0).waitFor();
  await page.evaluate(() => {
    window.changes = 0;
    new MutationObserver(() => ++window.changes).observe(document.querySelector("#gpu-0"), { subtree: true, childList: true, characterData: true });
  });
  for (let step = 1; step <= 10; ++step) server.sample({ devices: [gpu(0, { utilization_percent: 20 + step }), gpu(1)] });
  await block(0).getByText("30 %").waitFor();
  assert.equal(await page.evaluate(() => window.changes), 1);
  await page.finish();
});

for (const colorScheme of ["light", "dark"]) {
  test(`all text has a contrast of 4.5 to 1 at least, ${colorScheme}`, async () => {
    const { page } = await live({
      demo: true,
      devices: [gpu(0, { throttle: ["power_brake"] }), gpu(1, { state: "lost" }), gpu(2, { age_seconds: 20 })],
      alerts: [alert(1), alert(2, { severity: "critical" }), alert(3, { cleared_ns: 1.9e18 })],
      backends: [{ name: "amdgpu", is_up: false, problem: "no card", look_seconds: 0 }],
    }, { colorScheme });
    await page.locator(".alert").nth(1).waitFor();
    assert.deepEqual(await page.evaluate(faintTexts), []);
    await page.finish();
  });
}

// Texts whose contrast with what is behind them is below 4.5.
function faintTexts() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (parts) => {
    const [r, g, b] = parts.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = rgba(getComputedStyle(at).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility() || element.closest("script, option, .unseen")) continue;
    const [a, b] = [luminance(rgba(getComputedStyle(element).color)), luminance(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faint.push(`${contrast.toFixed(2)} ${walker.currentNode.textContent.trim()}`);
  }
  return faint;
}
