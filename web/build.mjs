// Bundles src/ into one HTML file with script and style inline: node build.mjs OUT.html
//
// The page may load nothing and run nothing but its own script, whose hash the policy names; so a
// name from a trace cannot become code even if some day it is written into the page unescaped.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) {
  console.error("usage: node build.mjs OUT.html");
  process.exit(2);
}

const bundle = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.tsx"],
  bundle: true,
  minify: true,
  charset: "utf8",
  format: "iife",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  outdir: "out",
  write: false,
  logLevel: "warning",
});
const text = (ending) => bundle.outputFiles.find((file) => file.path.endsWith(ending))?.text.trim() ?? "";

// Neither may hold what would end its element.
const script = text(".js").replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const style = text(".css").replaceAll("</style", "<\\/style");
const hash = createHash("sha256").update(script).digest("base64");

const values = { style, script, hash };
const page = (await readFile(join(here, "src/page.html"), "utf8")).replace(
  /\{\{(\w+)\}\}/g,
  (_, name) => values[name],
);
await writeFile(out, page);
