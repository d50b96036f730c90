import type { Tree, Weight } from "./tree";

// Other views of a flame tree, each a tree of its own.

const kWeights = ["cpu", "gpu", "count"] as const;
const kLeastPath = 1 / 5000; // of the whole: callers of less are not told apart

// Makes a tree path by path.
class Growing {
  private readonly children = new Map<string, number>();
  private readonly parent = [0];
  private readonly name: number[];
  private readonly kind = [""];
  private readonly parts: number[];
  private readonly calls = [0];
  private readonly firstNs = [0];
  private readonly depth = [0];
  private readonly total: Record<Weight, number[]> = { cpu: [0], gpu: [0], count: [0] };
  private readonly self: Record<Weight, number[]> = { cpu: [0], gpu: [0], count: [0] };

  constructor(private readonly of: Tree) {
    this.name = [of.name[0]!];
    this.parts = [of.parts[0]!];
  }

  // The child of `parent` that has the name and kind of `node`.
  child(parent: number, node: number): number {
    const key = `${parent} ${this.of.name[node]} ${this.of.kind[node]}`;
    const known = this.children.get(key);
    if (known !== undefined) {
      this.firstNs[known] = Math.min(this.firstNs[known]!, this.of.firstNs[node]!);
      return known;
    }
    const made = this.parent.length;
    this.children.set(key, made);
    this.parent.push(parent);
    this.name.push(this.of.name[node]!);
    this.kind.push(this.of.kind[node]!);
    this.parts.push(this.of.parts[node]!);
    this.calls.push(0);
    this.firstNs.push(this.of.firstNs[node]!);
    this.depth.push(this.depth[parent]! + 1);
    for (const weight of kWeights) {
      this.total[weight].push(0);
      this.self[weight].push(0);
    }
    return made;
  }

  add(to: number, node: number, from: Record<Weight, Float64Array>): void {
    for (const weight of kWeights) this.total[weight][to]! += from[weight][node]!;
  }
  addSelf(to: number, node: number): void {
    for (const weight of kWeights) this.self[weight][to]! += this.of.self[weight][node]!;
    this.calls[to]! += this.of.calls[node]!;
  }

  grown(): Tree {
    const typed = (columns: Record<Weight, number[]>) =>
      ({ cpu: Float64Array.from(columns.cpu), gpu: Float64Array.from(columns.gpu), count: Float64Array.from(columns.count) });
    return {
      weight: this.of.weight, names: this.of.names, parent: this.parent, name: this.name, kind: this.kind,
      parts: Uint8Array.from(this.parts), calls: this.calls, firstNs: this.firstNs, depth: Uint16Array.from(this.depth),
      self: typed(this.self), total: typed(this.total),
    };
  }
}

const isCall = (tree: Tree, node: number): boolean => tree.depth[node]! > 1; // no thread, and not the whole
const isSmall = (tree: Tree, node: number, from: Record<Weight, Float64Array>): boolean =>
  kWeights.every((weight) => from[weight][node]! <= kLeastPath * tree.total[weight][0]!);

// Puts a node and its callers, up to but without its thread, below `to`; what it adds is `from`.
function addCallers(growing: Growing, tree: Tree, node: number, to: number, from: Record<Weight, Float64Array>): void {
  const stopsHere = isSmall(tree, node, from);
  for (let up = tree.parent[node]!; isCall(tree, up) && !stopsHere; up = tree.parent[up]!) {
    to = growing.child(to, up);
    growing.add(to, node, from);
  }
}

// Every function by the time it took itself, its callers below it.
export function bottomUp(tree: Tree): Tree {
  const growing = new Growing(tree);
  for (let node = 1; node < tree.parent.length; ++node) {
    if (!kWeights.some((weight) => tree.self[weight][node]! > 0)) continue;
    const first = growing.child(0, node);
    growing.add(0, node, tree.self);
    growing.add(first, node, tree.self);
    growing.addSelf(first, node);
    addCallers(growing, tree, node, first, tree.self);
  }
  return growing.grown();
}

export interface Called {
  name: number; // of Tree.names
  kind: string;
  node: number; // one of its nodes, for its colour
  calls: number;
  self: Record<Weight, number>;
  total: Record<Weight, number>; // of its outermost calls: a function that calls itself counts once
}

const functionOf = (tree: Tree, node: number): string => `${tree.name[node]} ${tree.kind[node]}`;

// Whether a caller is the same function.
function isAgain(tree: Tree, node: number): boolean {
  for (let up = tree.parent[node]!; isCall(tree, up); up = tree.parent[up]!) {
    if (tree.name[up] === tree.name[node] && tree.kind[up] === tree.kind[node]) return true;
  }
  return false;
}

export function functionsOf(tree: Tree): Called[] {
  const found = new Map<string, Called>();
  for (let node = 1; node < tree.parent.length; ++node) {
    if (!isCall(tree, node)) continue;
    const key = functionOf(tree, node);
    let row = found.get(key);
    if (!row) {
      row = { name: tree.name[node]!, kind: tree.kind[node]!, node, calls: 0, self: { cpu: 0, gpu: 0, count: 0 }, total: { cpu: 0, gpu: 0, count: 0 } };
      found.set(key, row);
    }
    const again = isAgain(tree, node);
    row.calls += tree.calls[node]!;
    for (const weight of kWeights) {
      row.self[weight] += tree.self[weight][node]!;
      if (!again) row.total[weight] += tree.total[weight][node]!;
    }
  }
  return [...found.values()];
}

// Of one function: who called it, and what it called. The function is the whole of each.
export function sandwich(tree: Tree, of: Called): { callers: Tree; callees: Tree } {
  const callers = new Growing(tree);
  const callees = new Growing(tree);
  const placeIn = new Map<number, number>(); // nodes of the tree below an outermost call → of callees
  for (let node = 1; node < tree.parent.length; ++node) {
    const above = placeIn.get(tree.parent[node]!);
    if (above !== undefined) {
      const place = callees.child(above, node);
      placeIn.set(node, place);
      callees.add(place, node, tree.total);
      callees.addSelf(place, node);
      continue;
    }
    if (!isCall(tree, node) || tree.name[node] !== of.name || tree.kind[node] !== of.kind) continue;
    const itself = callees.child(0, node);
    placeIn.set(node, itself);
    for (const growing of [callees, callers]) growing.add(0, node, tree.total);
    callees.add(itself, node, tree.total);
    callees.addSelf(itself, node);
    const called = callers.child(0, node);
    callers.add(called, node, tree.total);
    callers.addSelf(called, node);
    addCallers(callers, tree, node, called, tree.total);
  }
  return { callers: callers.grown(), callees: callees.grown() };
}

// The same nodes, with widths of those alone that are among `kept`, lie below one, or lead to one.
export function pruned(tree: Tree, kept: Uint8Array): Tree {
  const count = tree.parent.length;
  const below = new Uint8Array(count);
  const total = { cpu: new Float64Array(count), gpu: new Float64Array(count), count: new Float64Array(count) };
  for (let node = 1; node < count; ++node) below[node] = kept[node]! | below[tree.parent[node]!]!;
  for (const weight of kWeights) {
    for (let node = 1; node < count; ++node) if (below[node]) total[weight][node] = tree.total[weight][node]!;
    for (let node = count - 1; node > 0; --node) {
      const parent = tree.parent[node]!;
      if (!below[parent]) total[weight][parent]! += total[weight][node]!;
    }
  }
  return { ...tree, total };
}

// Nodes on the way to one of `matches`, and these.
export function leadingTo(tree: Tree, matches: Uint8Array): Uint8Array {
  const found = matches.slice();
  for (let node = found.length - 1; node > 0; --node) if (found[node]) found[tree.parent[node]!] = 1;
  return found;
}

const kWait = /\b_?(wait\w*|sleep|n?anosleep|select|e?poll\w*|accept|recv\w*|acquire|join|futex|park|get_message|pthread_cond\w*)\b/i;
const kMostlyWaits = 0.95;

// Threads that did nothing but wait: nodes of depth 1 that spent their CPU time in calls that wait.
export function idleThreads(tree: Tree): number[] {
  const waits = tree.names.map((name) => kWait.test(name));
  const thread = new Uint32Array(tree.parent.length);
  const isWaiting = new Uint8Array(tree.parent.length);
  const waited = new Map<number, number>();
  for (let node = 1; node < tree.parent.length; ++node) {
    const parent = tree.parent[node]!;
    thread[node] = tree.depth[node] === 1 ? node : thread[parent]!;
    isWaiting[node] = tree.depth[node]! > 1 && (isWaiting[parent] || waits[tree.name[node]!]) ? 1 : 0;
    if (isWaiting[node]) waited.set(thread[node]!, (waited.get(thread[node]!) ?? 0) + tree.self.cpu[node]!);
  }
  return [...waited].filter(([root, ns]) => ns > 0 && tree.total.gpu[root] === 0 && ns >= kMostlyWaits * tree.total.cpu[root]!).map(([root]) => root);
}

// Without the time of some threads.
export function without(tree: Tree, threads: number[]): Tree {
  if (threads.length === 0) return tree;
  const kept = new Uint8Array(tree.parent.length);
  for (let node = 1; node < kept.length; ++node) kept[node] = tree.depth[node] === 1 && !threads.includes(node) ? 1 : 0;
  const shown = pruned(tree, kept);
  const self = { cpu: tree.self.cpu.slice(), gpu: tree.self.gpu.slice(), count: tree.self.count.slice() };
  for (const weight of kWeights) {
    for (let node = 1; node < kept.length; ++node) if (shown.total[weight][node] === 0) self[weight][node] = 0;
  }
  return { ...shown, self };
}
