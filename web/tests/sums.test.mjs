import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./source.mjs";

const { sumUp } = await load("timeline/sums.ts");
const { Rows } = await load("canvas/rows.ts");
const { levelAt } = await load("timeline/levels.ts");

// Numbers that are the same in every run.
function* numbers(seed) {
  for (let state = seed; ; ) {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    yield state / 2 ** 31;
  }
}

const kKinds = ["cpu_op", "kernel", "copy", "kernel"];
const kFills = [4, 0, 2, 1]; // CPU, GPU, transfer, communication

// Two streams and a thread, whose inner spans lie within the outer ones.
function timelineOf(seed, count) {
  const random = numbers(seed);
  const next = (most) => Math.floor(random.next().value * most);
  const rows = [];
  for (const gpu of [true, true]) {
    const row = [];
    for (let i = 0, at = 0; i < count; ++i) {
      at += next(20);
      const length = next(15);
      row.push([at, length, gpu ? 1 + next(3) : 0]);
      at += length;
    }
    rows.push(row);
  }
  const outer = [];
  const inner = [];
  for (let i = 0, at = 0; i < count; ++i) {
    at += next(10);
    const length = 2 + next(30);
    outer.push([at, length, 0]);
    const offset = next(length - 1);
    inner.push([at + offset, next(length - offset), 0]);
    at += length;
  }
  rows.push(outer, inner);
  const all = rows.flat();
  const first = Uint32Array.from([0, ...rows].map((_, i) => rows.slice(0, i).flat().length));
  const column = (at) => all.map((span) => span[at]);
  const track = (name, gpu, firstRow, of) => ({ name, shortName: name, process: "", gpu, annotations: false, frames: 0, quiet: false, firstRow, rows: of });
  return {
    spans: rows, lengthNs: Math.max(...all.map(([at, length]) => at + length)),
    rows: new Rows(Float64Array.from(column(0)), Float64Array.from(column(1)), Uint32Array.from(column(2)), first),
    tracks: [track("a", "GPU 0", 0, 1), track("b", "GPU 0", 1, 1), track("host", null, 2, 2)],
    names: ["op", "gemm", "copy", "nccl"], kinds: kKinds, fills: Uint8Array.from(kFills), classFills: Uint8Array.from(kFills), classes: ["", "gemm", "copy", "communication"],
  };
}

test("what a range sums up is what looking at every nanosecond gives", () => {
  for (let seed = 1; seed <= 40; ++seed) {
    const timeline = timelineOf(seed, 30);
    const random = numbers(seed + 100);
    const from = Math.floor(random.next().value * timeline.lengthNs * 0.6);
    const to = from + 1 + Math.floor(random.next().value * timeline.lengthNs * 0.5);
    const tracks = seed % 3 === 0 ? [1, 2] : null;
    const chosen = tracks ? timeline.spans.slice(1) : timeline.spans;
    const inside = ([at, length]) => Math.max(0, Math.min(to, at + length) - Math.max(from, at));
    const sums = sumUp(timeline, { from, to, tracks });
    for (let label = 0; label < 4; ++label) {
      const own = chosen.flat().filter((span) => span[2] === label);
      const found = sums.names.find((sum) => sum.label === label) ?? { total: 0, self: 0 };
      const total = own.reduce((sum, span) => sum + inside(span), 0);
      assert.equal(found.total, total, `total of ${label}, ${seed}`);
      const within = label === 0 ? timeline.spans[3].reduce((sum, span) => sum + inside(span), 0) : 0;
      assert.equal(found.self, total - within, `self of ${label}, ${seed}`);
    }
    const [use] = sums.gpus;
    const expected = { compute: 0, communication: 0, copies: 0, idle: 0 };
    const gpuSpans = (tracks ? [timeline.spans[1]] : timeline.spans.slice(0, 2)).flat();
    for (let ns = from; ns < to; ++ns) {
      const running = new Set(gpuSpans.filter(([at, length]) => at <= ns && ns < at + length).map((span) => span[2]));
      expected[running.has(1) ? "compute" : running.has(3) ? "communication" : running.has(2) ? "copies" : "idle"] += 1;
    }
    assert.deepEqual(use, { gpu: "GPU 0", ...expected }, `seed ${seed}`);
  }
});

test("idle threads are summed up where they are asked for", () => {
  const timeline = timelineOf(1, 30);
  timeline.tracks[2].quiet = true;
  const names = (tracks) => sumUp(timeline, { from: 0, to: timeline.lengthNs, tracks }).tracks.map(({ name }) => name).sort();
  assert.deepEqual(names(null), ["a", "b"]);
  assert.deepEqual(names([0, 2]), ["a", "host"]);
});

// More spans than a block has, so that whole blocks, their ends and cut spans all take part.
test("a long range sums up what its spans sum up to, one by one", () => {
  for (let seed = 1; seed <= 8; ++seed) {
    const timeline = timelineOf(seed, 2000);
    const random = numbers(seed + 200);
    const end = timeline.lengthNs + 10;
    const [from, to] = seed === 1 ? [0, end] : [random.next().value * 0.4 * end, (0.5 + random.next().value / 2) * end].map(Math.floor);
    const tracks = seed % 4 === 0 ? [0, 2] : null;
    const chosen = tracks ? [timeline.spans[0], timeline.spans[2], timeline.spans[3]] : timeline.spans;
    const seen = ([at, length]) => Math.max(0, Math.min(to, at + length) - Math.max(from, at));
    const takesPart = ([at, length]) => at < to && (at >= from || at + length > from);
    const sums = sumUp(timeline, { from, to, tracks });
    for (let label = 0; label < 4; ++label) {
      const own = chosen.flat().filter((span) => span[2] === label && takesPart(span));
      const found = sums.names.find((sum) => sum.label === label) ?? { count: 0, total: 0, self: 0 };
      const total = own.reduce((sum, span) => sum + seen(span), 0);
      const within = label === 0 ? timeline.spans[3].reduce((sum, span) => sum + seen(span), 0) : 0;
      assert.deepEqual([found.count, found.total, found.self], [own.length, total, total - within], `label ${label}, seed ${seed}`);
    }
    const of = (rows) => rows.flat().reduce((sum, span) => sum + seen(span), 0);
    const total = (name) => sums.tracks.find((track) => track.name === name)?.total;
    assert.deepEqual([total("a"), total("host")], [of([timeline.spans[0]]), of(timeline.spans.slice(2))], `tracks, seed ${seed}`);
  }
});

test("a pixel of a counter has its least, its mean over time and its most", () => {
  const counter = { name: "queue", unit: "", times_ns: [0, 90, 100, 200], values: [0, 50, 10, 10] };
  const whole = { begin: 0, end: 200, width: 2 };
  assert.deepEqual(levelAt(counter, whole, 0), { low: 0, mean: 5, high: 50 });
  assert.deepEqual(levelAt(counter, whole, 1), { low: 10, mean: 10, high: 10 });
  const close = { begin: 90, end: 100, width: 10 };
  assert.deepEqual(levelAt(counter, close, 4), { low: 50, mean: 50, high: 50 });
  const thinned = { ...counter, low: [0, 5, 10, 10], high: [80, 50, 10, 10] };
  assert.deepEqual(levelAt(thinned, { begin: 0, end: 90, width: 9 }, 3), { low: 0, mean: 0, high: 80 });
  assert.equal(levelAt(counter, { begin: -100, end: 0, width: 10 }, 2), null);
});
