import type { Part } from "../summary";
import { walkNested } from "./nesting";
import type { Entry } from "./read";

// The flame graph of a profile that is dropped onto the page, in the form of src/report/page/flame.h: calls of one path are
// one node.

interface Node {
  parent: number;
  name: string;
  calls: number;
  first_ns: number;
  cpu_ns: number; // less what is inside it, like the others
  gpu_ns: number;
  count: number;
}

export function flameOfProfile(entries: Entry[], partOf: (operation: string) => Part): ArrayBuffer {
  const nodes: Node[] = [{ parent: 0, name: "all", calls: 0, first_ns: 0, cpu_ns: 0, gpu_ns: 0, count: 0 }];
  const children = new Map<string, number>();
  const nodeOf: number[] = [];
  const child = (parent: number, name: string, first_ns: number): number => {
    const key = `${parent} ${name}`;
    let node = children.get(key);
    if (node === undefined) {
      node = nodes.push({ parent, name, calls: 0, first_ns, cpu_ns: 0, gpu_ns: 0, count: 0 }) - 1;
      children.set(key, node);
    }
    return node;
  };
  const threads = new Set<number>();
  walkNested(entries, (index, around) => {
    const entry = entries[index]!;
    const root = child(0, entry.thread === "" ? "thread" : `thread ${entry.thread}`, entry.start_ns);
    threads.add(root);
    const node = child(around === null ? root : nodeOf[around]!, entry.operation, entry.start_ns);
    nodeOf[index] = node;
    const its = nodes[node]!;
    its.calls += 1;
    its.count += 1;
    its.cpu_ns += entry.end_ns - entry.start_ns;
    its.gpu_ns += entry.gpu_ns ?? 0;
    if (around === null) return;
    const outer = nodes[nodeOf[around]!]!;
    outer.cpu_ns -= entry.end_ns - entry.start_ns;
    outer.gpu_ns -= entry.gpu_ns ?? 0;
  });
  const names = [...new Set(nodes.map((node) => node.name))];
  const place = new Map(names.map((name, index) => [name, index]));
  const isRoot = (index: number) => index === 0 || threads.has(index);
  const text = JSON.stringify({
    weight: "cpu", names,
    parent: nodes.map((node) => node.parent), name: nodes.map((node) => place.get(node.name)),
    kind: nodes.map((_, index) => (isRoot(index) ? "" : "scope")), part: nodes.map((node, index) => (isRoot(index) ? "idle" : partOf(node.name))),
    calls: nodes.map((node) => node.calls), first_ns: nodes.map((node) => node.first_ns),
    cpu_ns: nodes.map((node) => Math.max(0, node.cpu_ns)), gpu_ns: nodes.map((node) => Math.max(0, node.gpu_ns)), count: nodes.map((node) => node.count),
  });
  return new TextEncoder().encode(text).buffer as ArrayBuffer;
}
