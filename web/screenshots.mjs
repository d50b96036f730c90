// Pictures of every tab, for the documentation:
//   node screenshots.mjs report.html ranks.html compare.html ADDRESS OUT_FOLDER
// The first is a report of one trace, the second of several ranks (fathom hta -o), the third of a
// comparison (fathom compare -o). ADDRESS is what `fathom serve --demo` printed; the server's pictures take three minutes,
// because something has to happen first.
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [report, ranks, compare, address, folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node screenshots.mjs report.html ranks.html compare.html ADDRESS OUT_FOLDER");
  process.exit(2);
}

const kPictures = [
  { name: "overview", page: report, scheme: "light", height: 1080 },
  { name: "overview-dark", page: report, scheme: "dark", height: 1080 },
  { name: "timeline", page: report, scheme: "light", height: 800 },
  { name: "flame", page: report, scheme: "light", height: 800 },
  { name: "kernels", page: report, scheme: "light", height: 800 },
  { name: "memory", page: report, scheme: "light", height: 860 },
  { name: "ranks", page: ranks, scheme: "light", height: 860 },
  { name: "compare", page: compare, scheme: "light", height: 1360 },
];

const browser = await chromium.launch({
  executablePath: process.env.FATHOM_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
for (const { name, page: path, scheme, height } of kPictures) {
  const context = await browser.newContext({ viewport: { width: 1360, height }, colorScheme: scheme });
  const page = await context.newPage();
  await page.goto(`${pathToFileURL(resolve(path)).href}#${name.split("-")[0]}`);
  await page.locator("#view > *").first().waitFor();
  if (name === "kernels") await page.locator("tbody tr").nth(1).click();
  await page.waitForTimeout(800);
  await page.screenshot({ path: join(folder, `page-${name}.png`) });
  await context.close();
}

// The server's page: a session of the demo, with an alert that lasts.
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
await page.setViewportSize({ width: 1360, height: 1400 });
await page.keyboard.press("2");
await page.getByRole("button", { name: "Stop demo" }).click();
await page.getByText("stopped").waitFor();
await page.getByRole("link", { name: "demo" }).first().click();
await page.locator(".trend canvas").first().waitFor();
await picture("session");
await browser.close();
