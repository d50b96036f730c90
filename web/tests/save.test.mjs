import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { frame, start } from "./browser.mjs";
import { alert, fakeServer, gpu, pastOf, session } from "./fake_server.mjs";
import { trainingSnapshot } from "./snapshot.mjs";
import { load } from "./source.mjs";
import { evilNames, namesTrace, shapedTrace, trainingTrace } from "./traces.mjs";

let stage;
before(async () => {
  stage = await start();
});
after(() => stage.close());

async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

test("a table is saved as CSV: what is shown of it, in whole nanoseconds", async () => {
  const page = await stage.open(await stage.report("training", trainingTrace()), { hash: "#kernels" });
  await page.getByRole("searchbox").fill("nccl");
  const { name, bytes } = await saved(page, page.getByRole("button", { name: "Save kernels as CSV" }));
  assert.equal(name, "training.json-kernels.csv");
  const [head, row, ...rest] = bytes.toString().trimEnd().split("\r\n");
  assert.match(head, /^kernel,class,calls,sum \(ns\),mean \(ns\)/);
  assert.match(row, /^ncclKernel_AllReduce,communication,2,3000000,1500000/);
  assert.deepEqual(rest, []);
  await page.finish();
});

// A change of one operation, by more than the noise.
const loop = (run, slow) => ({
  traceEvents: Array.from({ length: 40 }, (_, i) => ["load", "forward"].map((name, at) => ({
    ph: "X", cat: "cpu_op", name, pid: 1, tid: 1, ts: i * 1000 + at * 500, dur: 100 * (1 + ((i * 7 + run * 3) % 11) / 1000) * (at ? slow : 1),
  }))).flat(),
});

async function compileLog() {
  const input = join(stage.folder, "compile.log");
  const output = join(stage.folder, "compile.html");
  const record = (json, id) => `V0721 16:11:45.671000 98102 torch/_dynamo/utils.py:1900] {${json}, "frame_id": 0, "frame_compile_id": ${id}, "attempt": 0}\n`;
  const stack = '"dynamo_start": {"stack": [{"line": 90, "name": "main", "filename": 0, "loc": "step(x)"}]}';
  const metrics = '"compilation_metrics": {"co_name": "forward", "co_filename": "/me/model.py", "co_firstlineno": 29, "dynamo_cumulative_compile_time_us": 2000000}';
  await writeFile(input, `V0721 16:11:45.671000 98102 torch/_dynamo/utils.py:1900] {"str": ["/me/train.py", 0]}\n${record(stack, 0)}${record(metrics, 0)}`);
  await promisify(execFile)(process.env.FATHOM_PROGRAM, ["compile", input, "-o", output]);
  return output;
}

// What has no canvas of its own is saved as its panel is seen.
async function checkButtons(page, what) {
  const faults = await page.evaluate(() => {
    const lacks = (of, kind) => [...document.querySelectorAll(`#view ${of}`)].filter((each) => !each.closest(".panel, .drawing, .functions")?.querySelector(`.save[aria-label$="${kind}"]`)).map((each) => each.outerHTML.slice(0, 80));
    return [...lacks("table", "CSV"), ...[".chart", ".trend", ".strips", ".reserved-bar", ".classes", ".flame-change"].flatMap((of) => lacks(of, "PNG"))];
  });
  assert.deepEqual(faults, [], what);
}

test("every table and every chart of every tab has its button", async () => {
  const training = await stage.report("all", trainingTrace());
  const paths = [
    [training, ["#overview", "#overview?operation=aten::mm&kind=cpu_op", "#kernels?kernel=sgemm_128x64", "#kernels?by=class", "#kernels?by=operator", "#memory", "#flame?view=sandwich", "#timeline?mark=0-20000000"]],
    [await stage.report("shaped", shapedTrace()), ["#kernels"]],
    [await stage.ranksReport("ranks", [trainingTrace(), trainingTrace()]), ["#overview", "#ranks"]],
    [await stage.pageOfFile("memory", "snapshot.pickle", trainingSnapshot()), ["#memory"]],
    [await stage.comparison("compared", [loop(1, 1)], [loop(2, 1.5)]), ["#compare"]],
    [await compileLog(), ["#compile"]],
  ];
  for (const [path, places] of paths) {
    for (const hash of places) {
      const page = await stage.open(path, { hash });
      await checkButtons(page, hash);
      await page.finish();
    }
  }
});

test("the server's tables and trends have theirs", async () => {
  const devices = [gpu(0)];
  const one = session("1", { name: "=cmd", stopped_ns: Date.UTC(2027, 0, 15, 10, 12, 4) * 1e6 });
  const server = await fakeServer({
    devices, sessions: [one], alerts: [alert(1, { cleared_ns: Date.UTC(2027, 0, 15, 10, 0, 43) * 1e6 })], history: pastOf(devices, 60, 1000),
    reports: { 1: { alerts: [alert(1)], metrics: { "GPU-0": { fan_percent: { least: 30, mean: 40.5, most: 50 } } }, history: pastOf(devices, 60, 1000) } },
    files: [{ name: "a.json", bytes: 12, modified_ns: Date.UTC(2027, 0, 15) * 1e6, is_openable: true }],
  });
  const page = await stage.visit(`${server.url}#live`, { cookies: server.cookies });
  const show = async (hash, words) => {
    await page.evaluate((to) => { location.hash = to; }, hash);
    await page.getByText(words).first().waitFor();
    await checkButtons(page, hash);
  };
  const csv = async (what) => (await saved(page, page.getByRole("button", { name: `Save ${what} as CSV` }))).bytes.toString().trimEnd().split("\r\n");
  await show("#live", "Earlier alerts");
  assert.deepEqual((await csv("processes"))[0], "program,command,GPU,pid,memory (bytes),utilisation (%)");
  const trends = await saved(page, page.getByRole("button", { name: "Save device 0 as PNG" }));
  assert.deepEqual([...trends.bytes.subarray(1, 4)], [..."PNG"].map((letter) => letter.charCodeAt(0)));
  await show("#sessions", "newest first");
  assert.deepEqual(await csv("sessions"), ["session,description,state,started,stopped,samples,alerts", "'=cmd,,stopped,2027-01-15T10:00:00.000Z,2027-01-15T10:12:04.000Z,120,0"]);
  await show("#sessions/1", "All figures");
  assert.deepEqual(await csv("all figures"), ["GPU,figure,least,mean,most", "Test GPU 0,fan_percent,30,40.5,50"]);
  assert.match((await csv("alerts"))[1], /warning,Test GPU 0,2027-01-15T10:00:00\.000Z,$/);
  await show("#files", "a.json");
  assert.deepEqual(await csv("files"), ["file,modified,size (bytes)", "a.json,2027-01-15T00:00:00.000Z,12"]);
  await page.finish();
});

// A reader of the file knows no column but by its heading, and wants the sign.
test("a saved table has words where the page has words, signs, and the unit of each figure", async () => {
  const csv = async (path, hash, what) => {
    const page = await stage.open(path, { hash });
    const { bytes } = await saved(page, page.getByRole("button", { name: `Save ${what} as CSV` }).first());
    await page.finish();
    return bytes.toString().trimEnd().split("\r\n");
  };
  const change = await csv(await stage.comparison("faster", [1, 2, 3].map((run) => loop(run, 1.5)), [4, 5, 6].map((run) => loop(run, 1))), "", "operations");
  assert.equal(change[0], "operation,verdict,calls,before (ns),now (ns),change (%),95 % interval from (%),95 % interval to (%),self time (ns of a run)");
  assert.match(change[1], /^forward,faster,40,15\d+(\.\d+)?,10\d+(\.\d+)?,'?-33[\d.]*,-33[\d.]*,-3[23][\d.]*,-2\d+/);
  const training = await stage.report("units", trainingTrace());
  const names = await csv(training, "#timeline?mark=0-20000000", "names");
  assert.equal(names[0], "name,kind,count,total (ns),self (ns),share (% of self time),mean (ns)");
  assert.equal(names[1], "sgemm_128x64,kernel,2,4000000,4000000,50,2000000");
  assert.equal((await csv(training, "#flame?view=sandwich", "functions"))[0], "function,own (ns),total (ns)");
  assert.equal((await csv(await stage.pageOfFile("memory", "units.pickle", trainingSnapshot()), "#memory", "places"))[0], "allocated by,for,blocks,memory (bytes),share (% of what is allocated)");
  assert.match((await csv(await stage.report("shaped2", shapedTrace()), "#kernels", "kernels"))[0], /,TFLOP\/s,GB\/s,of peak \(%\),/);
});

test("a panel is saved as it is seen, canvases and all", async () => {
  const page = await stage.open(await stage.report("panel", shapedTrace()));
  const { bytes } = await saved(page, page.getByRole("button", { name: "Save GPU time by class as PNG" }));
  const box = await page.locator(".panel:has(.classes)").boundingBox();
  assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [Math.round(box.width), Math.round(box.height)]);
  const colours = await page.evaluate(async (png) => {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    return new Set(Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 3).join())).size;
  }, bytes.toString("base64"));
  assert.ok(colours > 20, `${colours} colours: it is not blank`);
  await page.finish();
});

test("a chart is saved as PNG, with its title and legend", async () => {
  const page = await stage.open(await stage.report("chart", trainingTrace()), { colorScheme: "dark" });
  await page.getByText("Where the time went").hover();
  const { name, bytes } = await saved(page, page.getByRole("button", { name: "Save where the time went as PNG" }));
  assert.equal(name, "chart.json-where_the_time_went.png");
  assert.deepEqual([...bytes.subarray(1, 4)], [..."PNG"].map((letter) => letter.charCodeAt(0)));
  const canvas = await page.locator(".ring canvas").evaluate(({ width, height }) => ({ width, height }));
  assert.equal(bytes.readUInt32BE(16), canvas.width);
  assert.ok(bytes.readUInt32BE(20) > canvas.height + 40, "there is room for words");
  await page.finish();
});

test("the timeline and the flame graph are saved as they are drawn", async () => {
  const page = await stage.open(await stage.report("drawn", trainingTrace()), { hash: "#timeline" });
  for (const [key, name] of [["2", "timeline"], ["3", "flame"]]) {
    await page.keyboard.press(key);
    await frame(page);
    const picture = await saved(page, page.getByRole("button", { name: `Save the ${name} as PNG` }));
    assert.equal(picture.name, `drawn.json-${name}.png`);
    assert.equal(picture.bytes.readUInt32BE(16), await page.locator("#view canvas").first().evaluate((canvas) => canvas.width));
  }
  await page.finish();
});

test("names that a spreadsheet would run or cut are text", async () => {
  const { csvOf } = await load("csv.ts");
  assert.equal(csvOf([["=1+1", "a,b", 'say "hi"', "two\nlines", null, 1.5, Number.NaN]]), "'=1+1,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",,1.5,\r\n");
  const page = await stage.open(await stage.report("names", namesTrace()), { hash: "#kernels" });
  const { bytes } = await saved(page, page.getByRole("button", { name: "Save kernels as CSV" }));
  assert.ok(bytes.toString().includes(evilNames[0]), "whole, as it is in the trace");
  await page.finish();
});
