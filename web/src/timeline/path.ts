import { Rows } from "../canvas/rows";
import { partIndex } from "../classes";
import { columnsOf, type Bytes } from "./bytes";
import type { Part } from "./decode";

// The critical path, as src/report/page/path.h describes it.

export interface Bound {
  name: string;
  label: string; // "data loading"
  part: string;
  ns: number; // on the path
}

export interface CriticalPath {
  name: string; // whose it is
  shortName: string;
  bounds: Bound[];
  leastNs: number; // shorter pieces stand together, as the longest of them; 0: each by itself
  fills: Uint8Array; // colours of the bounds
  rows: Rows; // one row of segments; their labels are bounds
  span: Int32Array; // of each segment; -1 where none is known
}

export function decodePath(buffer: ArrayBuffer, part: Part): CriticalPath {
  const [head, durations, bounds, spans] = columnsOf(buffer) as [{ begin_ns: number; least_ns: number; bounds: Bound[] }, Bytes, Bytes, Bytes];
  const length: number[] = [];
  while (durations.left) length.push(durations.number());
  const start = new Float64Array(length.length);
  const label = new Uint32Array(length.length);
  const span = new Int32Array(length.length).fill(-1);
  let at = part.startNs + head.begin_ns;
  let last = 0;
  for (let i = 0; i < length.length; ++i) {
    start[i] = at;
    at += length[i]!;
    const bound = bounds.number();
    label[i] = bound >> 1;
    if (bound & 1) span[i] = part.firstSpan + (last += spans.signed());
  }
  return {
    name: part.label,
    shortName: part.shortLabel,
    bounds: head.bounds,
    leastNs: head.least_ns,
    fills: Uint8Array.from(head.bounds, (bound) => partIndex(bound.part)),
    rows: new Rows(start, Float64Array.from(length), label, Uint32Array.of(0, length.length)),
    span,
  };
}
