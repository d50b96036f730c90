import { partIndex } from "../canvas/palette";
import { Rows } from "../canvas/rows";
import { namerOf, type Namer } from "../short_names";

// The flame tree as src/report/page/flame.h describes it, and how it is laid out.

export type Weight = "cpu" | "gpu" | "count";
export type Order = "heavy" | "time";

export interface Tree {
  weight: Weight; // the one asked for when the page was made
  names: string[];
  parent: number[];
  name: number[];
  kind: string[];
  parts: Uint8Array;
  calls: number[];
  firstNs: number[];
  depth: Uint16Array;
  self: Record<Weight, Float64Array>;
  total: Record<Weight, Float64Array>;
}

interface Block {
  weight: Weight;
  names: string[];
  parent: number[];
  name: number[];
  kind: string[];
  part: string[];
  calls: number[];
  first_ns: number[];
  cpu_ns: number[];
  gpu_ns: number[];
  count: number[];
}

export function readTree(buffer: ArrayBuffer): Tree {
  const block = JSON.parse(new TextDecoder().decode(buffer)) as Block;
  const self = { cpu: Float64Array.from(block.cpu_ns), gpu: Float64Array.from(block.gpu_ns), count: Float64Array.from(block.count) };
  const total = { cpu: self.cpu.slice(), gpu: self.gpu.slice(), count: self.count.slice() };
  const depth = new Uint16Array(block.parent.length);
  for (let i = 1; i < depth.length; ++i) depth[i] = depth[block.parent[i]!]! + 1;
  for (const weight of ["cpu", "gpu", "count"] as const) {
    for (let i = block.parent.length - 1; i > 0; --i) total[weight][block.parent[i]!]! += total[weight][i]!;
  }
  return {
    weight: block.weight, names: block.names, parent: block.parent, name: block.name, kind: block.kind,
    parts: Uint8Array.from(block.part, partIndex), calls: block.calls, firstNs: block.first_ns, depth, self, total,
  };
}

export const nameOf = (tree: Tree, node: number): string => tree.names[tree.name[node]!] || "(no name)";

const named = new WeakMap<string[], Namer>(); // by Tree.names, which the views of a tree share

// The same where there is little room.
export function shownName(tree: Tree, node: number): string {
  let shown = named.get(tree.names);
  if (!shown) {
    shown = namerOf(() => new Set(tree.name.filter((_, at) => tree.kind[at] === "kernel").map((name) => tree.names[name]!)));
    named.set(tree.names, shown);
  }
  return shown(nameOf(tree, node), tree.kind[node]!);
}

export interface Laid {
  rows: Rows; // labels are nodes
  place: Int32Array; // of each node among the rows' rectangles; -1 where it has no width
}

// Each node as wide as its weight, its children within it from the left: heaviest first, or in the
// order in which they were first seen.
export function layOut(tree: Tree, weight: Weight, order: Order): Laid {
  const total = tree.total[weight];
  const count = total.length;
  const nodes = Array.from({ length: count }, (_, node) => node).filter((node) => total[node]! > 0);
  const rank = order === "heavy"
    ? (a: number, b: number) => total[b]! - total[a]! || a - b
    : (a: number, b: number) => tree.firstNs[a]! - tree.firstNs[b]! || a - b;
  // By depth, then as siblings are ordered: parents are placed before their children ask.
  nodes.sort((a, b) => tree.depth[a]! - tree.depth[b]! || rank(a, b));
  const begin = new Float64Array(count);
  const taken = new Float64Array(count);
  for (const node of nodes) {
    if (node === 0) continue;
    const parent = tree.parent[node]!;
    begin[node] = begin[parent]! + taken[parent]!;
    taken[parent]! += total[node]!;
  }
  nodes.sort((a, b) => tree.depth[a]! - tree.depth[b]! || begin[a]! - begin[b]!);
  const deepest = nodes.reduce((most, node) => Math.max(most, tree.depth[node]!), 0);
  const first = new Uint32Array(nodes.length === 0 ? 1 : deepest + 2);
  const place = new Int32Array(count).fill(-1);
  nodes.forEach((node, at) => {
    place[node] = at;
    first[tree.depth[node]! + 1] = at + 1;
  });
  const rows = new Rows(
    Float64Array.from(nodes, (node) => begin[node]!), Float64Array.from(nodes, (node) => total[node]!),
    Uint32Array.from(nodes), first,
  );
  return { rows, place };
}

// Nodes whose name has all words of a query, and the weight they and all below them take together.
export function findNodes(tree: Tree, query: string, weight: Weight): { nodes: Uint8Array; count: number; weight: number } | null {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return null;
  const isNamed = tree.names.map((name) => words.every((word) => name.toLowerCase().includes(word)));
  const nodes = new Uint8Array(tree.parent.length);
  const inside = new Uint8Array(tree.parent.length); // of a match
  let count = 0;
  let sum = 0;
  for (let i = 1; i < nodes.length; ++i) {
    const parent = tree.parent[i]!;
    inside[i] = nodes[parent]! | inside[parent]!;
    if (!isNamed[tree.name[i]!] || tree.total[weight][i] === 0) continue;
    nodes[i] = 1;
    ++count;
    if (!inside[i]) sum += tree.total[weight][i]!;
  }
  return { nodes, count, weight: sum };
}

// From the whole down to a node.
export function pathTo(tree: Tree, node: number): number[] {
  const path = [node];
  while (path[0] !== 0) path.unshift(tree.parent[path[0]!]!);
  return path;
}
