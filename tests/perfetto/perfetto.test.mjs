// What Fathom writes as .pftrace, by `convert`, `profile` and `monitor`, Perfetto's own trace processor reads: of
// each name as many slices, as long together, as in the trace it was made of.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fetched } from './trace_processor.mjs';

const FATHOM = process.env.FATHOM_PROGRAM;
const PROCESSOR = fetched(process.env.FATHOM_TRACE_PROCESSOR);
const SCRIPT = fileURLToPath(new URL('trace_processor.mjs', import.meta.url));
const CORPUS = process.env.FATHOM_CORPUS ?? fileURLToPath(new URL('../../../shared/corpus', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'fathom-perfetto-'));
after(() => rmSync(scratch, { recursive: true }));

function convert(from, name) {
  const to = join(scratch, name);
  execFileSync(FATHOM, ['convert', '--force', from, to], { stdio: 'ignore' });
  return to;
}

function rows(path, sql) {
  const text = execFileSync(process.execPath, [SCRIPT, PROCESSOR, path, sql],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });
  return JSON.parse(text);
}

// Both by name, as [slices, nanoseconds]; an instant is a slice of no length to Perfetto.
function seen_by_perfetto(path) {
  const found = rows(path, 'select name, count(*) as slices, sum(dur) as ns from slice group by name');
  return new Map(found.map((row) => [row.name ?? '', [row.slices, row.ns]]).sort());
}

function seen_by_us(path) {
  const events = JSON.parse(readFileSync(convert(path, 'ours.json'), 'utf8')).traceEvents;
  const names = new Map();
  for (const event of events) {
    if (event.ph !== 'X' && event.ph !== 'i') continue;
    const [slices, ns] = names.get(event.name) ?? [0, 0];
    names.set(event.name, [slices + 1, ns + Math.round((event.dur ?? 0) * 1000)]);
  }
  return new Map([...names].sort());
}

// Names of the trace processor are cut where they are no UTF-8, so none of these may be empty.
function expect_the_same(pftrace, source) {
  const theirs = seen_by_perfetto(pftrace);
  assert.ok(theirs.size > 0);
  assert.deepEqual(theirs, seen_by_us(source));
}

function of_args(args) {
  const path = join(scratch, 'args.json');
  writeFileSync(path, `{"traceEvents": [
    {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":9,"args":${args}},
    {"ph":"i","cat":"x","name":"b","pid":1,"tid":1,"ts":2,"args":${args}}]}`);
  return path;
}

const skip = PROCESSOR === null ? 'the trace processor is not here and cannot be fetched' : false;

test('a null, NaN or infinite argument makes a file that Perfetto reads', { skip }, () => {
  const args = '{"n":null,"x":NaN,"y":-Infinity,"correlation":null,"bytes":null,"Python parent id":null,' +
    '"in":[1,null],"z":{"a":null},"r":1.50,"big":1e400,"s":"text"}';
  const path = convert(of_args(args), 'null.pftrace');
  assert.deepEqual(seen_by_perfetto(path), new Map([['a', [1, 9000]], ['b', [1, 0]]]));
  const found = rows(path, "select key, string_value as s, real_value as r from slice join args using (arg_set_id)" +
    " where slice.name = 'a' and key like 'debug.%'");
  const value = (key) => found.find((row) => row.key === `debug.${key}`);
  assert.equal(value('r').r, 1.5);
  assert.equal(value('s').s, 'text');
  assert.equal(value('n'), undefined);
});

// Real traces of PyTorch, of every version and maker of GPUs: the smaller ones, or all of them, which takes minutes.
const kLargest = process.env.FATHOM_ALL_TRACES ? Infinity : 128 << 10;
const folder = join(CORPUS, 'kineto');
const traces = existsSync(folder) ? readdirSync(folder).filter((name) => /\.json(\.gz)?$/.test(name)) : [];
for (const name of traces) {
  const path = join(folder, name);
  const is_large = statSync(path).size > kLargest;
  test(`${name}: of each name as many slices, as long together`, { skip: skip || (is_large && 'large') }, () => {
    expect_the_same(convert(path, `${name}.pftrace`), path);
  });
}


function record(name, ...command) {
  const run = join(scratch, name);
  execFileSync(FATHOM, ['profile', '-o', run, '--', join(dirname(FATHOM), command[0]), ...command.slice(1)],
    { stdio: 'ignore' });
  return run;
}

test('a run of a program, its OpenCL work and scopes', { skip }, () => {
  for (const command of [['opencl_program', 'out-of-order'], ['opencl_program', 'maps'], ['scoped_program', 'nested', '100'], ['scoped_program', 'around', '0']]) {
    const run = record(`${command[1]}.pftrace`, ...command);
    expect_the_same(run, run);
  }
});

test('attributes that are no numbers do not harm a run', { skip }, () => {
  const run = record('nan.pftrace', 'scoped_program', 'odd', '1');
  expect_the_same(run, run);
  const found = rows(run, "select key, int_value as i from slice join args using (arg_set_id) where slice.name = 'odd'");
  assert.equal(found.find((row) => row.key === 'debug.count').i, 7);
});

test('the samples of the monitor', { skip }, async () => {
  const run = join(scratch, 'monitor.pftrace');
  const monitor = spawn(FATHOM, ['monitor', '--demo', '--interval', '0.05', '--json', '--record', run],
    { stdio: ['ignore', 'pipe', 'ignore'] });
  let lines = 0;
  for await (const piece of monitor.stdout) {
    lines += String(piece).split('\n').length - 1;
    if (lines >= 3) break;
  }
  monitor.kill('SIGINT');
  await once(monitor, 'exit');
  const [{ n }] = rows(run, 'select count(*) as n from counter');
  const ours = JSON.parse(readFileSync(convert(run, 'ours.json'), 'utf8')).traceEvents;
  assert.ok(n > 0);
  assert.equal(n, ours.filter((event) => event.ph === 'C').length);
});
