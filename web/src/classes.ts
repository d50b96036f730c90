import type { Part } from "./summary";

// Classes of GPU work, as src/analyze/classes/kernel_class.h has them, each with a colour of styles.css.
// Some that are rarely seen together share one: the name stands beside it everywhere.
export const kClassFills = [
  "k-gemm", "k-convolution", "k-attention", "k-moe", "k-reduce", "k-elementwise", "k-layout", "k-index", "k-optimizer", "k-serving",
] as const;
export type ClassFill = (typeof kClassFills)[number];

// What has a colour: a part of the time, or a class of GPU work.
export type Fill = Part | ClassFill;

const kFillOfClass: Record<string, ClassFill> = {
  attention: "k-attention", convolution: "k-convolution", moe: "k-moe", gemm: "k-gemm",
  softmax: "k-reduce", norm: "k-reduce", reduce: "k-reduce",
  index: "k-index", sort: "k-index", rng: "k-index",
  optimizer: "k-optimizer", quantize: "k-serving", rope_kv: "k-serving",
  layout: "k-layout", elementwise: "k-elementwise",
};

// Of work of a class, which has a part of the time too: what is no computing has the colour of that.
export const fillOfClass = (name: string, part: Part): Fill => kFillOfClass[name] ?? part;

export const kParts: readonly Part[] = ["gpu", "comm", "transfer", "overhead", "cpu", "idle"];

// All that a rectangle can be filled with: parts, then classes of GPU work.
export const kFills: readonly Fill[] = [...kParts, ...kClassFills];

export const fillIndex = (fill: Fill): number => Math.max(0, kFills.indexOf(fill));

export const partIndex = (part: string): number => Math.max(0, kParts.indexOf(part as Part));
