import assert from "node:assert/strict";
import { before, test } from "node:test";
import { load } from "./source.mjs";

let History;
let thin;
let changesOf;
let formatSpan;
before(async () => {
  ({ History } = await load("history/history.ts"));
  ({ thin } = await load("history/thin.ts"));
  ({ changesOf } = await load("live/changes.ts"));
  ({ formatSpan } = await load("format.ts"));
});

const line = (times, values, { from = times[0], to = times.at(-1), pixels = 1000, gap = Infinity } = {}) =>
  thin(Float64Array.from(times), Float32Array.from(values), from, to, pixels, gap);

test("few samples are drawn as they are", () => {
  assert.deepEqual(line([0, 10, 20], [1, 5, 2]), { times: [0, 10, 20], values: [1, 5, 2], least: 1, most: 5 });
});

test("of many in a pixel the least and the most remain, in order", () => {
  const times = Array.from({ length: 100_000 }, (_, at) => at);
  const values = times.map((at) => (at === 54_321 ? 99 : at === 54_322 ? -7 : at % 3));
  const thinned = line(times, values, { pixels: 300 });
  assert.ok(thinned.times.length <= 2 * 301, `${thinned.times.length} points`);
  assert.ok(thinned.values.includes(99) && thinned.values.includes(-7), "a spike of one sample is seen");
  assert.deepEqual([thinned.least, thinned.most], [-7, 99]);
  assert.deepEqual(thinned.times, [...thinned.times].sort((a, b) => a - b));
});

test("what was drawn keeps its shape while the window moves by whole pixels", () => {
  const times = Array.from({ length: 5000 }, (_, at) => at);
  const values = times.map((at) => Math.sin(at / 7) * 50);
  const first = line(times, values, { from: 0, to: 3000, pixels: 100 });
  const later = line(times, values, { from: 300, to: 3300, pixels: 100 });
  const shared = (one) => one.times.map((time, at) => `${time} ${one.values[at]}`).filter((_, at) => one.times[at] >= 600 && one.times[at] < 2900);
  assert.deepEqual(shared(first), shared(later));
});

test("the line breaks where a value is unknown, and where there were no samples", () => {
  assert.deepEqual(line([0, 1, 2, 3], [4, NaN, NaN, 5]).values, [4, null, 5]);
  assert.deepEqual(line([0, 1, 2, 60, 61], [4, 4, 4, 5, 5], { gap: 10 }).values, [4, 4, 4, null, 5, 5]);
  assert.deepEqual(line([0, 1], [NaN, NaN]), { times: [], values: [], least: NaN, most: NaN });
});

test("the window takes one sample before it, so that the line begins at its edge", () => {
  assert.deepEqual(line([0, 10, 20, 30], [1, 2, 3, 4], { from: 15, to: 25 }).times, [10, 20]);
});

test("samples that are known already are not taken twice", () => {
  const history = new History();
  history.append(1000, [["a", { utilization_percent: 5 }]]);
  history.appendAll({ times_ms: [500, 1000, 2000], devices: { a: { name: "A", utilization_percent: [1, 2, 3], memory_used_bytes: [null, null, null], temperature_celsius: [null, null, null], power_watts: [null, null, null] } } });
  assert.deepEqual(history.line("a", "utilization_percent", 0, 3000, 100, Infinity).values, [5, 3]);
  assert.equal(history.knows("a", "utilization_percent"), true);
  assert.equal(history.knows("a", "power_watts"), false);
});

test("a device that comes later was unknown before", () => {
  const history = new History();
  history.append(1, [["a", { power_watts: 10 }]]);
  history.append(2, [["a", { power_watts: 11 }], ["b", { power_watts: 20 }]]);
  history.append(3, [["b", { power_watts: 21 }]]);
  assert.deepEqual(history.line("b", "power_watts", 0, 9, 100, Infinity).values, [20, 21]);
  assert.deepEqual(history.line("a", "power_watts", 0, 9, 100, Infinity).values, [10, 11, null]);
});

test("four hours at 10 Hz are kept, and it grows no further", () => {
  const history = new History();
  const figures = [["a", { utilization_percent: 1 }]];
  for (let at = 0; at < 400_000; ++at) {
    figures[0][1].utilization_percent = at % 100;
    history.append(at * 100, figures);
  }
  assert.ok(history.length >= 144_000 && history.length <= 200_000, `${history.length} samples`);
  assert.equal(history.end, 399_999 * 100);
  assert.equal(history.step, 100);
  const last = history.line("a", "utilization_percent", history.end - 1000, history.end, 1000, Infinity);
  assert.equal(last.values.at(-1), 99);
});

test("what is said aloud is what changed", () => {
  const status = (alerts, devices) => ({ alerts, devices });
  const hot = { id: 1, severity: "warning", device: "A", message: "is hot" };
  const device = (state) => ({ index: 0, uuid: "a", name: "A", state });
  assert.deepEqual(changesOf(null, status([hot], [])), [], "not what was so when the page was opened");
  assert.deepEqual(changesOf(status([], []), status([hot], [])), ["Alert, warning, A: is hot."]);
  assert.deepEqual(changesOf(status([hot], []), status([hot], [])), []);
  assert.deepEqual(changesOf(status([hot], []), status([{ ...hot, cleared_ns: 5 }], [])), ["Cleared, A: is hot."]);
  assert.deepEqual(changesOf(status([], []), status([{ ...hot, cleared_ns: 5 }], [])), []);
  assert.deepEqual(changesOf(status([], [device("ok")]), status([], [device("lost")])), ["GPU 0, A, is lost."]);
  assert.deepEqual(changesOf(status([], [device("lost")]), status([], [device("ok")])), ["GPU 0, A, is back."]);
  assert.deepEqual(changesOf(status([], []), status([], [device("ok")])), ["GPU 0, A, was found."]);
});

test("how long something lasted is said as people say it", () => {
  const said = [400, 9900, 42_000, 59_600, 724_000, 3_600_000, 11_520_000, 183_600_000].map(formatSpan);
  assert.deepEqual(said, ["0.4 s", "9.9 s", "42 s", "1 min", "12 min 4 s", "1 h", "3 h 12 min", "2 d 3 h"]);
});
