// A profile is worked out in C++ when a page of it is written, and in the page when it is dropped onto it:
// the same figures to the digit, and the same words.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { load } from "./source.mjs";
import { profile } from "./traces.mjs";

let folder;
let summaryOfProfile;
let readProfile;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "fathom-profile-"));
  ({ summaryOfProfile } = await load("profile/summary.ts"));
  ({ readProfile } = await load("profile/read.ts"));
});
after(() => rm(folder, { recursive: true }));

// What the built program writes into a page of this profile.
async function written(name, text) {
  const input = join(folder, name);
  const page = join(folder, `${name}.html`);
  await writeFile(input, text);
  await promisify(execFile)(process.env.FATHOM_PROGRAM, ["report", input, "-o", page]);
  const [, packed] = /data-name="summary">([^<]*)</.exec(await readFile(page, "utf8"));
  return JSON.parse(gunzipSync(Buffer.from(packed, "base64")).toString());
}

const kSame = ["story", "cards", "ring", "slices", "operations", "scopes", "bottlenecks", "memory", "advice", "suggestions", "operators", "ranks", "skew"];
const kSameOfRun = ["name", "format", "command", "rank", "world_size", "spans", "threads"];

async function same(name, text) {
  const page = await written(name, text);
  const dropped = summaryOfProfile(readProfile(text), name);
  const pick = (from, keys) => Object.fromEntries(keys.map((key) => [key, from[key]]));
  assert.deepEqual(pick(dropped, kSame), pick(page, kSame));
  assert.deepEqual(pick(dropped.run, kSameOfRun), pick(page.run, kSameOfRun));
  if (page.run.spans > 0) assert.equal(dropped.run.duration_ns, page.run.duration_ns);
  return page;
}

test("entries with a summary", async () => {
  const page = await same("service.json", JSON.stringify(profile()));
  assert.match(page.story.headline, /^The GPU worked 60\.0 % of 10\.0 ms\. infer took 70\.0 %/);
  assert.deepEqual(page.scopes.map(({ name, part, self_ns }) => [name, part, self_ns]), [["infer", "gpu", 7e6], ["request", "gpu", 3e6]]);
  assert.equal(page.memory.devices[0].cards[0].value, "20 MB");
});

// Times of day have more digits than a number holds.
test("entries alone, nested on two threads, with times of day", async () => {
  const at = (ns) => `1731891600.${String(ns).padStart(9, "0")}`;
  const rows = [];
  for (let i = 0; i < 40; ++i) {
    const start = 1_000_003 * i + 17;
    const length = 300_001 + 977 * ((i * 7) % 13);
    const entry = (operation, from, to, more) =>
      rows.push(`{"operation": "${operation}", "start_time": ${at(from)}, "end_time": ${at(to)}, "duration_ms": ${(to - from) / 1e6}, "thread": ${i % 2}${more}}`);
    entry("inner", start + 11, start + length - 5, `, "gpu_time_ms": ${(length - 16) / 2e6}, "cpu_time_ms": ${(length - 16) / 2e6}, "memory_allocated_mb": ${i + 0.1}`);
    entry("step", start, start + length, `, "gpu_time_ms": 0.1${i}, "transfer_time_ms": 0.01, "overhead_ms": null, "cpu_time_ms": 0.0${i}1, "memory_peak_mb": ${i * 3.7}`);
    if (i % 10 === 0) entry("overlaps", start + length - 100, start + length + 100, ', "cpu_time_ms": "0.0002"');
  }
  const page = await same("nested.json", `{"run": {"command": "./serve", "rank": 1, "world_size": 4}, "entries": [${rows.join(",\n")}]}`);
  assert.equal(page.scopes.find(({ name }) => name === "step").self_ns, 40 * 16 - 4 * 0);
});

test("a summary alone, as an object and as a list", async () => {
  const figures = { call_count: 3, avg_time_ms: 1.1, p50_ms: 1, p99_ms: 1.3, total_gpu_time_ms: 2.2, total_cpu_time_ms: 1.1 };
  await same("summary.json", JSON.stringify({ summary: { infer: figures, load: { call_count: 1, total_time_ms: 2, self_time_ms: 0.5 } } }));
  await same("list.json", JSON.stringify({ summary: [{ operation: "infer", ...figures }, { operation: "load", total_time_ms: 2 }] }));
});

test("entries without times, without figures, and unknown ones", async () => {
  await same("bare.json", JSON.stringify({ entries: [{ operation: "alone", duration_ms: 3 }, { operation: "alone", duration_ms: 4.25 }] }));
  await same("odd.json", '{"entries": [{"operation": "nan", "duration_ms": 2, "gpu_time_ms": NaN}, {"operation": "no time"}, {"duration_ms": "1.5", "gpu_time_ms": "1"}]}');
});

test("a summary of more calls than there are entries keeps its own figures", async () => {
  const many = profile();
  many.run.dropped_entries = 98;
  many.summary.infer = { ...many.summary.infer, call_count: 99, total_time_ms: 700 };
  const page = await same("dropped.json", JSON.stringify(many));
  assert.equal(page.scopes[0].self_ns, null, "the entries are not all of its calls");
  assert.match(page.warnings[0], /98 entries were dropped/);
});
