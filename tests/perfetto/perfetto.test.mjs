// What `fathom convert` writes as .pftrace, Perfetto's own trace processor reads: as many slices, as long
// together as in the trace it was made of.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fetched } from './trace_processor.mjs';

const PROCESSOR = fetched(process.env.FATHOM_TRACE_PROCESSOR);
const SCRIPT = fileURLToPath(new URL('trace_processor.mjs', import.meta.url));
const CORPUS = process.env.FATHOM_CORPUS ?? fileURLToPath(new URL('../../../shared/corpus', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'fathom-perfetto-'));
after(() => rmSync(scratch, { recursive: true }));

function convert(from, name) {
  const to = join(scratch, name);
  execFileSync(process.env.FATHOM_PROGRAM, ['convert', '--force', from, to], { stdio: 'ignore' });
  return to;
}

function rows(path, sql) {
  const text = execFileSync(process.execPath, [SCRIPT, PROCESSOR, path, sql],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });
  return JSON.parse(text);
}

// Both as [slices, nanoseconds]; an instant is a slice of no length to Perfetto.
function seen_by_perfetto(path) {
  const [sum] = rows(path, 'select count(*) as slices, sum(dur) as ns from slice');
  return [sum.slices, sum.ns];
}

function seen_by_us(path) {
  const events = JSON.parse(readFileSync(convert(path, 'ours.json'), 'utf8')).traceEvents;
  const spans = events.filter((event) => event.ph === 'X');
  const instants = events.filter((event) => event.ph === 'i');
  const ns = spans.reduce((sum, event) => sum + Math.round(event.dur * 1000), 0);
  return [spans.length + instants.length, ns];
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
  assert.deepEqual(seen_by_perfetto(path), [2, 9000]);
  const found = rows(path, "select key, string_value as s, real_value as r from slice join args using (arg_set_id)" +
    " where slice.name = 'a' and key like 'debug.%'");
  const value = (key) => found.find((row) => row.key === `debug.${key}`);
  assert.equal(value('r').r, 1.5);
  assert.equal(value('s').s, 'text');
  assert.equal(value('n'), undefined);
});

for (const name of ['a100_simple_add', 'a100_event_sync_multi_stream', 'inductor_triton', 'a100_alexnet_cuda_sync']) {
  const path = join(CORPUS, 'kineto', `${name}.json.gz`);
  const missing = skip || (existsSync(path) ? false : 'no corpus');
  test(`${name}: as many slices, as long together`, { skip: missing }, () => {
    assert.deepEqual(seen_by_perfetto(convert(path, `${name}.pftrace`)), seen_by_us(path));
  });
}
