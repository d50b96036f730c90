// A browser, reports made by the built program, and a watch over what a page may not do.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { chromium } from "playwright-core";

const program = process.env.FATHOM_PROGRAM;
const builtPage = process.env.FATHOM_PAGE; // the page without data
const browserPath = process.env.FATHOM_CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

// Starts a browser and a folder for reports; both are gone after `close`.
export async function start() {
  assert.ok(program, "FATHOM_PROGRAM names the built program");
  assert.ok(browserPath, "chromium is needed: apt-get install chromium");
  const folder = await mkdtemp(join(tmpdir(), "fathom-page-"));
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });

  return {
    folder,

    // Writes `trace` to a file and its report beside it; the report's path.
    async report(name, trace) {
      const input = join(folder, `${name}.json`);
      const output = join(folder, `${name}.html`);
      await writeFile(input, JSON.stringify(trace));
      await promisify(execFile)(program, ["report", input, "-o", output]);
      return output;
    },

    // The page that another command makes of `trace`: flame, timeline, memory.
    async pageOf(command, name, trace) {
      const input = join(folder, `${name}.json`);
      const output = join(folder, `${name}-${command}.html`);
      await writeFile(input, JSON.stringify(trace));
      await promisify(execFile)(program, [command, input, "-o", output]);
      return output;
    },

    // The same of a file that is not JSON.
    async pageOfFile(command, name, bytes) {
      const input = join(folder, name);
      const output = join(folder, `${name}-${command}.html`);
      await writeFile(input, bytes);
      await promisify(execFile)(program, [command, input, "-o", output]);
      return output;
    },

    // The page of the profile JSON that `trace` is converted to.
    async converted(name, trace) {
      const [input, between, output] = [`${name}.trace.json`, `${name}.json`, `${name}.html`].map((file) => join(folder, file));
      await writeFile(input, JSON.stringify(trace));
      await promisify(execFile)(program, ["convert", input, between, "--format", "profile"]);
      await promisify(execFile)(program, ["report", between, "-o", output]);
      return output;
    },

    // Records a program; the path of the memory page of its run.
    async recordedMemory(name, ...program_and_arguments) {
      const run = join(folder, `${name}.pftrace`);
      const output = join(folder, `${name}.html`);
      await promisify(execFile)(program, ["memory", "-o", run, "--", ...program_and_arguments]);
      await promisify(execFile)(program, ["memory", run, "-o", output]);
      return output;
    },

    // The page of a job: one trace a rank.
    async ranksReport(name, traces) {
      const output = join(folder, `${name}.html`);
      const inputs = traces.map((_, rank) => join(folder, `${name}_${rank}.json`));
      await Promise.all(traces.map((trace, rank) => writeFile(inputs[rank], JSON.stringify(trace))));
      await promisify(execFile)(program, ["hta", ...inputs, "-o", output]);
      return output;
    },

    // The page of a comparison: one trace a run.
    async comparison(name, before, now) {
      const output = join(folder, `${name}.html`);
      const write = async (trace, side, run) => {
        const path = join(folder, `${name}_${side}${run}.json`);
        await writeFile(path, JSON.stringify(trace));
        return path;
      };
      const base = await Promise.all(before.map((trace, run) => write(trace, "before", run)));
      const current = await Promise.all(now.map((trace, run) => write(trace, "now", run)));
      await promisify(execFile)(program, ["compare", ...base, "--with", ...current, "-o", output]);
      return output;
    },

    // The blocks of data in a page, unpacked, by name.
    async blocks(path) {
      const html = await readFile(path, "utf8");
      const found = html.matchAll(/data-name="(\w+)">([^<]*)</g);
      return Object.fromEntries([...found].map(([, name, packed]) => [name, gunzipSync(Buffer.from(packed, "base64"))]));
    },

    emptyPage() {
      assert.ok(builtPage, "FATHOM_PAGE names the built page");
      return builtPage;
    },

    // Opens a page; `page.finish()` closes it and fails where it complained or asked the network.
    async open(path, { hash = "", ...options } = {}) {
      return visit(browser, pathToFileURL(path).href + hash, /^(file|data|blob):/, options);
    },

    // Opens a page of a server. `cookies` are what an earlier login left; `expected` says which complaints of the browser
    // are the point of the test (it complains of every answer that is an error).
    async visit(address, options = {}) {
      const origin = new URL(address).origin;
      return visit(browser, address, new RegExp(`^(data:|blob:|${origin}/)`), options);
    },

    async close() {
      await browser.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function visit(browser, address, mayAsk, { cookies = [], expected = null, ...options }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  await context.addCookies(cookies);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !expected?.test(message.text())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!mayAsk.test(request.url())) complaints.push(`request: ${request.url()}`);
  });
  drawnAfterEach(page);
  await page.goto(address);
  await page.locator("#view > :not([aria-busy]), .welcome, .login").first().waitFor();
  page.finish = async () => {
    assert.equal(await page.evaluate(() => window.evil), undefined, "a name was run as code");
    await context.close();
    assert.deepEqual(complaints, []);
  };
  return page;
}

// Has each action of a test end when the page has drawn what came of it: a page that renders a moment after a click
// would else be read too early wherever the machine is busy.
const actions = {
  locator: ["check", "click", "fill", "hover", "press", "selectOption", "tap", "uncheck"],
  keyboard: ["press", "type"],
  mouse: ["click", "move", "up", "wheel"],
};
const twoFrames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));

let locatorsWait = false;
function drawnAfterEach(page) {
  const waiting = (object, names, pageOf) => {
    for (const name of names) {
      const act = object[name];
      object[name] = async function (...given) {
        const result = await act.apply(this, given);
        await pageOf(this).evaluate(twoFrames).catch(() => {}); // the action may have led to another page, or closed this one
        return result;
      };
    }
  };
  waiting(page.keyboard, actions.keyboard, () => page);
  waiting(page.mouse, actions.mouse, () => page);
  if (locatorsWait) return; // all locators are of one class
  waiting(Object.getPrototypeOf(page.locator("html")), actions.locator, (locator) => locator.page());
  locatorsWait = true;
}

// Drops a file of this text onto the page, as a reader would.
export async function drop(page, name, text) {
  const transfer = await page.evaluateHandle(([fileName, content]) => {
    const data = new DataTransfer();
    data.items.add(new File([content], fileName, { type: "application/json" }));
    return data;
  }, [name, text]);
  await page.dispatchEvent("body", "dragover", { dataTransfer: transfer });
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

export const overflow = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

// Asks the page until it says yes, and gives the answer. (waitForFunction evaluates text, which the
// page's policy forbids.)
export async function until(page, predicate) {
  for (let tries = 0; tries < 400; ++tries) {
    const answer = await page.evaluate(predicate);
    if (answer) return answer;
    await page.waitForTimeout(25);
  }
  throw new Error(`never came true: ${predicate}`);
}

// What the last frame of the timeline or flame graph drew; its canvas tells.
export async function frame(page) {
  await until(page, () => document.querySelector("canvas")?.frame);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return page.evaluate(() => document.querySelector("canvas").frame);
}
