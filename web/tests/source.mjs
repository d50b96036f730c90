// A module of src/ that needs no browser, bundled as the page bundles it.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

export async function load(path) {
  const entry = fileURLToPath(new URL(`../src/${path}`, import.meta.url));
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: "esm", write: false, logLevel: "silent" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
