import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { drop, overflow, start } from "./browser.mjs";
import { fakeServer } from "./fake_server.mjs";

let stage;
before(async () => { stage = await start(); });
after(() => stage.close());

const kRefused = /status of 4\d\d/;
const file = (name, changes = {}) => ({ name, bytes: 5 * 2 ** 20, modified_ns: 1.8e18, is_openable: true, ...changes });

async function files(world, options = {}) {
  const server = await fakeServer(world);
  const page = await stage.visit(`${server.url}#files`, { cookies: server.cookies, ...options });
  return { server, page };
}

const choose = (page, name, bytes) =>
  page.getByLabel("Trace to upload").setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.alloc(bytes, "x") });

test("a trace of the folder is opened", async () => {
  const { server, page } = await files({ files: [file("ranks/rank 0.json.gz"), file("notes.txt", { is_openable: false })], isComplete: false });
  await page.getByText("the newest 2 files; the folder has more").waitFor();
  assert.equal(await page.getByRole("link", { name: "notes.txt" }).count(), 0);
  await page.getByRole("link", { name: "ranks/rank 0.json.gz" }).click();
  await page.getByText("report of ranks/rank 0.json.gz").waitFor();
  assert.ok(server.requests.includes("GET /trace/ranks%2Frank%200.json.gz"));
  await page.finish();
});

test("a trace is uploaded, chosen or dropped", async () => {
  const { server, page } = await files({});
  await page.getByText("The folder is empty.").waitFor();
  await choose(page, "mine & yours.json", 900);
  await page.getByText("mine & yours.json is there.").waitFor();
  await page.locator("tbody").getByRole("link", { name: "mine & yours.json" }).waitFor();
  await drop(page, "dropped.json", "{}");
  await page.getByText("dropped.json is there.").waitFor();
  await choose(page, "photo.png", 10);
  await page.getByText("photo.png is there, but Fathom does not read its format.").waitFor();
  assert.deepEqual(server.world.files.map(({ name }) => name), ["photo.png", "dropped.json", "mine & yours.json"]);
  await page.finish();
});

test("what is too large is refused before it is sent", async () => {
  const { server, page } = await files({});
  await page.getByText("of at most 1000 B").waitFor();
  await choose(page, "big.json", 5000);
  await page.getByRole("alert").getByText("big.json: It has 4.9 KB; the server takes at most 1000 B.").waitFor();
  assert.ok(!server.requests.some((request) => request.startsWith("POST /api/files")));
  await page.finish();
});

test("what the server refuses is said in its words", async () => {
  const { server, page } = await files({}, { expected: kRefused });
  await page.getByText("of at most 1000 B").waitFor();
  server.world.limit = 100; // since the page asked
  await choose(page, "big.json", 500);
  await page.getByRole("alert").getByText("larger than 100 bytes").waitFor();
  await page.finish();
});

test("a server without a folder says how to name one", async () => {
  const { server, page } = await files({ limit: null });
  await page.getByText("fathom serve DIR").waitFor();
  await page.finish();
});

test("the list fits a phone", async () => {
  const { server, page } = await files({ files: [file(`${"long ".repeat(30)}.json`)] }, { viewport: { width: 360, height: 740 } });
  await page.locator("tbody tr").first().waitFor();
  assert.equal(await overflow(page), 0);
  await page.finish();
});
