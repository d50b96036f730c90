import { kParts, type Palette, currentPalette } from "../canvas/palette";
import type { Tree } from "../flame/tree";
import { colour } from "../theme";

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

// Colours by the index that Tree.parts has: kParts has as many, and its last is grey too.
const kColours = ["much slower", "slower", "faster", "much faster", "gone", "about the same"] as const;
type Colour = (typeof kColours)[number];

const kSome = 0.05;
const kMuch = 0.3;

function colourOf(base: number, current: number): Colour {
  if (base === 0 && current > 0) return "much slower";
  if (base > 0 && current === 0) return "gone";
  const change = base > 0 ? current / base - 1 : 0;
  if (Math.abs(change) < kSome) return "about the same";
  if (change > 0) return change > kMuch ? "much slower" : "slower";
  return change < -kMuch ? "much faster" : "faster";
}

export function changePalette(): Palette {
  // Letters have 4.5 to 1 on each, light and dark: paper on the strong ones, ink on the others.
  const weak = (strong: string) => `color-mix(in srgb, ${strong} 40%, ${colour("idle")})`;
  const [ink, paper] = [colour("ink"), colour("panel")];
  const slower = colour("bad");
  const faster = colour("gpu");
  const parts = [slower, weak(slower), weak(faster), faster, faster, colour("idle")];
  return { ...currentPalette(), parts, letters: [paper, ink, ink, paper, paper, ink] };
}

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
      parts: Uint8Array.from(base, (ns, i) => Math.min(kParts.length - 1, kColours.indexOf(colourOf(ns, current[i]!)))),
      calls: zeros, firstNs: zeros, depth, self: only(self), total: only(total),
    },
  };
}
