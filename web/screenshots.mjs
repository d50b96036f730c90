// Pictures of every tab, for the documentation:
//   node screenshots.mjs report.html ranks.html compare.html OUT_FOLDER
// The first is a report of one trace, the second of several ranks (fathom hta -o), the third of a
// comparison (fathom compare -o).
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [report, ranks, compare, folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node screenshots.mjs report.html ranks.html compare.html OUT_FOLDER");
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
await browser.close();
