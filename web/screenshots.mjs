// Pictures of the page, for the documentation and to look at:
//   node screenshots.mjs PAGES OUT_FOLDER [ADDRESS]
// PAGES is a folder of pages, of which these are pictured for the documentation, into OUT_FOLDER:
//   report.html     a trace with Python stacks and memory (h100_timesformer)
//   training.html   a trace of training steps (v100_rank1of2)
//   inference.html  a trace of a server (b200_vllm_eager)
//   snapshot.html   a memory snapshot of a training step
//   ranks.html      fathom hta -o, of several ranks
//   compare.html    fathom compare -o
//   compile.html    fathom compile -o
// With ADDRESS, which is what `fathom serve --demo` printed, those of the server too: they take three minutes, because something
// has to happen first. Every tab of every page in PAGES, light, dark and on a phone, goes into OUT_FOLDER/all, to be looked at.
import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [pages, folder, address] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node screenshots.mjs PAGES OUT_FOLDER [ADDRESS]");
  process.exit(2);
}

const find = async (page, text) => {
  await page.keyboard.press("/");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
};
const press = (name) => (page) => page.getByRole("button", { name, exact: true }).first().click();

const kPictures = [
  { name: "overview", page: "report", height: 980 },
  { name: "overview-dark", page: "report", scheme: "dark", height: 980 },
  { name: "narrow", page: "report", width: 390, height: 844 },
  { name: "gap", page: "report", hash: "timeline", height: 640 },
  { name: "range", page: "report", hash: "timeline?mark=0-218000000", height: 800, act: press("Host") },
  { name: "stack", page: "report", hash: "timeline?from=216000000&to=262000000", height: 900, act: (page) => find(page, "cunn_SoftMax") },
  { name: "path", page: "report", hash: "timeline?path=1", height: 640 },
  { name: "suggestions", page: "report", height: 840 },
  { name: "flame", page: "inference", height: 700, act: press("GPU time") },
  {
    name: "sandwich", page: "report", hash: "flame", height: 760,
    act: async (page) => {
      await press("Sandwich")(page);
      await page.locator("tbody tr", { hasText: "normalize" }).first().click();
    },
  },
  { name: "timeline", page: "training", height: 700 },
  { name: "kernels", page: "report", height: 800, act: (page) => page.locator("tbody tr").nth(1).click() },
  { name: "memory", page: "snapshot", height: 860 },
  { name: "ranks", page: "ranks", height: 860 },
  { name: "compile", page: "compile", height: 860 },
  { name: "compare", page: "compare", height: 1100 },
];

const browser = await chromium.launch({ executablePath: process.env.FATHOM_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

async function opened(path, { width = 1360, height = 860, scheme = "light", hash = "" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
  const page = await context.newPage();
  await page.goto(`${pathToFileURL(resolve(path)).href}#${hash}`);
  await page.locator("#view > *").first().waitFor();
  return page;
}

for (const picture of kPictures) {
  const path = join(pages, `${picture.page}.html`);
  if (!existsSync(path)) continue;
  const page = await opened(path, { hash: picture.name.split("-")[0], ...picture });
  await page.waitForTimeout(500);
  await picture.act?.(page);
  await page.waitForTimeout(800);
  await page.screenshot({ path: join(folder, `page-${picture.name}.png`) });
  await page.context().close();
}

const kViews = [{ name: "light" }, { name: "dark", scheme: "dark" }, { name: "phone", width: 390, height: 844 }];
await mkdir(join(folder, "all"), { recursive: true });
for (const file of (await readdir(pages)).filter((name) => name.endsWith(".html"))) {
  for (const view of kViews) {
    const page = await opened(join(pages, file), view);
    for (const tab of await page.getByRole("tab").evaluateAll((all) => all.map((link) => link.getAttribute("href").slice(1)))) {
      await page.evaluate((to) => { location.hash = to; }, tab);
      await page.waitForTimeout(500);
      await page.screenshot({ path: join(folder, "all", `${basename(file, ".html")}-${tab}-${view.name}.png`), fullPage: true });
    }
    await page.context().close();
  }
}
if (address) await pictureTheServer();
await browser.close();

// The server's page: a session of the demo, with an alert that lasts.
async function pictureTheServer() {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, colorScheme: "light" });
  const page = await context.newPage();
  const picture = async (name) => {
    await page.waitForTimeout(800);
    await page.screenshot({ path: join(folder, `page-${name}.png`) });
  };
  await page.goto(address);
  await page.locator(".device").first().waitFor();
  await page.keyboard.press("2");
  await page.getByLabel("Name").fill("demo");
  await page.getByLabel("Description").fill("training on GPU 0, serving on GPU 1");
  await page.keyboard.press("Enter");
  await page.getByText("running").waitFor();
  await page.locator("nav a").first().click();
  await page.waitForTimeout(120_000);
  await page.locator(".meter.warn, .meter.bad").first().waitFor({ timeout: 300_000 });
  await picture("live");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture("live-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 390, height: 844 });
  await picture("live-narrow");
  await page.setViewportSize({ width: 1360, height: 1100 });
  await page.keyboard.press("2");
  await page.getByRole("button", { name: "Stop demo" }).click();
  await page.getByText("stopped").waitFor();
  await page.getByRole("link", { name: "demo" }).first().click();
  await page.locator(".trend canvas").first().waitFor();
  await picture("session");
}
