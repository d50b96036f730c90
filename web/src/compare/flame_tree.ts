import { kParts, paletteOf, type Palette } from "../canvas/palette";
import type { Tree } from "../flame/tree";
import { colour } from "../theme";
import { changeFills, colourIndex } from "./colours";

// The block "flame_change": src/report/page/compare.cpp writes it. A column each with one entry a call path, in
// order of the tree; times are each path's own, of a run or a step.
interface Block {
  names: string[];
  parent: number[];
  name: number[];
  kind: string[];
  base_cpu_ns: number[];
  base_gpu_ns: number[];
  current_cpu_ns: number[];
  current_gpu_ns: number[];
}

export type Weight = "cpu" | "gpu";

// A flame tree as wide as the larger of before and now, coloured by the change; with both times of
// each path and all below it.
export interface ChangeTree {
  tree: Tree;
  base: Float64Array;
  current: Float64Array;
}

export const changePalette = (): Palette => paletteOf(changeFills(colour("bad"), colour("gpu"), colour("idle")));

export function readChange(buffer: ArrayBuffer): Record<Weight, ChangeTree> {
  const block = JSON.parse(new TextDecoder().decode(buffer)) as Block;
  return {
    cpu: treeOf(block, "cpu", block.base_cpu_ns, block.current_cpu_ns),
    gpu: treeOf(block, "gpu", block.base_gpu_ns, block.current_gpu_ns),
  };
}

function withAllBelow(self: number[], parent: number[]): Float64Array {
  const total = Float64Array.from(self);
  for (let i = parent.length - 1; i > 0; --i) total[parent[i]!]! += total[i]!;
  return total;
}

function treeOf(block: Block, weight: Weight, baseSelf: number[], currentSelf: number[]): ChangeTree {
  const count = block.parent.length;
  const base = withAllBelow(baseSelf, block.parent);
  const current = withAllBelow(currentSelf, block.parent);
  const self = Float64Array.from(baseSelf, (ns, i) => Math.max(ns, currentSelf[i]!));
  const total = withAllBelow([...self], block.parent);
  const depth = new Uint16Array(count);
  for (let i = 1; i < count; ++i) depth[i] = depth[block.parent[i]!]! + 1;
  const none = new Float64Array(count);
  const only = (values: Float64Array) => ({ cpu: none, gpu: none, count: none, [weight]: values });
  const zeros = new Array<number>(count).fill(0);
  return {
    base,
    current,
    tree: {
      weight, names: block.names, parent: block.parent, name: block.name, kind: block.kind,
      parts: Uint8Array.from(base, (ns, i) => Math.min(kParts.length - 1, colourIndex(ns, current[i]!))),
      calls: zeros, firstNs: zeros, depth, self: only(self), total: only(total),
    },
  };
}
