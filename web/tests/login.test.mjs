import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "./browser.mjs";
import { fakeServer } from "./fake_server.mjs";

let stage;
before(async () => { stage = await start(); });
after(() => stage.close());

const kRefused = /status of 40[13]/;
const field = (page) => page.getByRole("textbox", { name: "Token" });

test("a wrong token is refused in a sentence, the right one opens the page, logging out closes it", async () => {
  const server = await fakeServer();
  const page = await stage.visit(server.url, { expected: kRefused });
  await field(page).fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("This token is not known.").waitFor();
  await field(page).fill(" right ");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator("#gpu-0").waitFor();
  await page.reload();
  await page.locator("#gpu-0").waitFor();
  await page.getByRole("button", { name: "Log out" }).click();
  await field(page).waitFor();
  await page.reload();
  await field(page).waitFor();
  await page.finish();
});

test("a token in the address logs in, and is gone from the address at once", async () => {
  const server = await fakeServer({ token: "ri+ght/==" });
  const page = await stage.visit(`${server.url}#token=ri+ght/==`);
  await page.locator("#gpu-0").waitFor();
  assert.equal(page.url(), server.url);
  assert.ok(!server.requests.some((request) => request.includes("ght")), "it is in no address that the server saw");
  assert.equal(await page.evaluate(() => history.length), 2, "about:blank and this page");
  await page.finish();
});

test("a wrong token in the address leads to the login, and is gone too", async () => {
  const server = await fakeServer();
  const page = await stage.visit(`${server.url}#token=old`, { expected: kRefused });
  await page.getByRole("alert").getByText("This token is not known.").waitFor();
  assert.equal(page.url(), server.url);
  await page.finish();
});

test("the login of a trace's page leads to the trace", async () => {
  const server = await fakeServer();
  const page = await stage.visit(`${server.url}trace/ranks%2Frank0.json`, { expected: kRefused });
  await field(page).fill("right");
  await page.keyboard.press("Enter");
  await page.getByText("report of ranks/rank0.json").waitFor();
  await page.finish();
});

test("a token for metrics alone is told so", async () => {
  const server = await fakeServer({ role: "metrics" });
  const page = await stage.visit(server.url, { cookies: server.cookies });
  await page.getByText("This token may read /metrics alone.").waitFor();
  await page.finish();
});

test("a viewer sees what there is and no button that the server would refuse", async () => {
  const server = await fakeServer({ role: "viewer" });
  const page = await stage.visit(server.url, { cookies: server.cookies });
  await page.locator("#gpu-0").waitFor();
  await page.keyboard.press("2");
  await page.getByText("None yet.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Start" }).count(), 0);
  await page.keyboard.press("3");
  await page.getByText("The folder is empty.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Choose a file…" }).count(), 0);
  await page.finish();
});
