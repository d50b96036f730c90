import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { load } from "./source.mjs";

const table = JSON.parse(await readFile(new URL("../../tests/base/figures.json", import.meta.url), "utf8"));
const format = await load("format.ts");

// tests/base/format_test.cpp holds the terminal to the same table.
for (const [kind, write] of [
  ["durations", format.formatDuration], ["bytes", format.formatBytes], ["counts", format.formatCount], ["percents", format.formatPercent],
]) {
  test(`${kind} are written as on the terminal`, () => {
    for (const [value, text] of table[kind]) assert.equal(write(value), text, String(value));
  });
}

test("axes have round figures", () => {
  assert.equal(format.durationTick(400e6), "400 ms");
  assert.equal(format.durationTick(0), "0");
  assert.equal(format.bytesTick(3 * 2 ** 20), "3 MB");
  assert.equal(format.bytesTick(1.5 * 2 ** 30), "1.5 GB");
  for (const most of [1, 900, 2 ** 20, 190e6, 2 ** 30, 11.3e9, 80 * 2 ** 30]) {
    const step = format.bytesStep(most, 5);
    assert.ok(step * 5 >= most && step <= Math.max(1, most), `${most}: ${step}`);
    assert.match(format.bytesTick(step), /^\d+ /);
  }
});
