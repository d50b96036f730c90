import { shortName } from "./format";

// What a row or span is called where there is little room: by its whole name and its kind. A hover tells all of it.
export type Namer = (name: string, kind: string) => string;

// The same everywhere on a page whose kernels these are. They are worked out when the first is asked for.
export function namerOf(kernels: () => Iterable<string>): Namer {
  let short: Map<string, string> | null = null;
  const kernelName = (name: string) => (short ??= shortNames([...kernels()])).get(name) ?? name;
  return (name, kind) => (kind === "kernel" ? kernelName(name) : kind === "python" ? pythonName(name) : name) || "(no name)";
}

// A Python function before the file it stands in: "nn/module.py(1501): _call_impl" → "_call_impl module.py:1501"; what is built
// in without its address.
function pythonName(name: string): string {
  const [, file, line, called] = /^(.*)\((\d+)\): (.+)$/.exec(name) ?? [];
  if (called) return `${called} ${file!.slice(file!.lastIndexOf("/") + 1)}:${line}`;
  const [, method, type] = /^<built-in method (\S+) of (\S+) object at 0x[0-9a-f]+>$/.exec(name) ?? [];
  return method ? `${type}.${method} (built in)` : name;
}

// Short names of kernels that stay apart from each other. Where leaving out namespaces makes two the same, as of
// `device_kernel<fp8::GemmKernel>` and `device_kernel<fp16::GemmKernel>`, the inner ones stay; and where two differ only
// far behind what a column shows, what they begin with in common is cut out of the middle.
export function shortNames(names: readonly string[]): Map<string, string> {
  const short = new Map<string, string>();
  for (const same of groups([...new Set(names)], shortName)) {
    const apart = same.length === 1 ? [shortName(same[0]!)] : qualified(same);
    same.forEach((name, index) => short.set(name, apart[index]!));
  }
  for (const alike of groups([...short.keys()], (name) => short.get(name)!.slice(0, kShown))) {
    const shown = alike.map((name) => short.get(name)!);
    const cut = alike.length === 1 ? 0 : wordAt(shown[0]!, differsFrom(shown));
    if (cut > kHead) alike.forEach((name, index) => short.set(name, `${shown[index]!.slice(0, kHead)}…${shown[index]!.slice(cut)}`));
  }
  return short;
}

const kShown = 38; // letters that a column has room for, about
const kHead = 22; // of what is in common, how much stays before
const kWord = 14; // letters between two places where a name may be cut

const kDeepest = 12;

// With as many of the innermost namespaces as tell them apart; else whole.
function qualified(names: string[]): string[] {
  for (let depth = 1; depth <= kDeepest; ++depth) {
    const shown = names.map((name) => shortName(name, depth));
    if (new Set(shown).size === names.length) return withoutSharedSpaces(shown);
  }
  return names;
}

// Less the outer namespaces that all of them begin with.
function withoutSharedSpaces(names: string[]): string[] {
  const space = /^(?:\w+::)+/.exec(names[0]!)?.[0] ?? "";
  return space && names.every((name) => name.startsWith(space)) ? names.map((name) => name.slice(space.length)) : names;
}

// Where the first of them differs from another.
function differsFrom(names: string[]): number {
  const [first, ...others] = names as [string, ...string[]];
  const shared = (other: string) => {
    let at = 0;
    while (at < first.length && first[at] === other[at]) ++at;
    return at;
  };
  return Math.min(...others.map(shared));
}

// Where the word begins that this place is in.
function wordAt(name: string, at: number): number {
  let begin = at;
  while (begin > 0 && at - begin < kWord && !"_<, :".includes(name[begin - 1]!)) --begin;
  return at - begin < kWord ? begin : at;
}

function groups(names: string[], by: (name: string) => string): string[][] {
  const found = new Map<string, string[]>();
  for (const name of names) {
    const key = by(name);
    const group = found.get(key);
    if (group) group.push(name);
    else found.set(key, [name]);
  }
  return [...found.values()];
}
