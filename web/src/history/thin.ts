// A line as a chart draws it: null is where it breaks.
export interface Line {
  times: number[];
  values: (number | null)[];
  least: number; // of what is known; NaN where nothing is
  most: number;
}

// The samples from one time to another with at most two per pixel, the least and the most of those that share it, so that no
// spike is lost. Pixels begin at multiples of their width in time: what was drawn keeps its shape while it moves.
// The line breaks where a value is unknown (NaN) and where there was no sample for longer than `gapMs`.
export function thin(times: Float64Array, values: Float32Array, from: number, to: number, pixels: number, gapMs: number): Line {
  const line: Line = { times: [], values: [], least: NaN, most: NaN };
  const width = (to - from) / Math.max(1, pixels);
  let pixel = NaN; // that of `low` and `high`
  let low = -1; // places of the least and the most in it; -1 without any
  let high = -1;
  const put = (at: number) => {
    line.times.push(times[at]!);
    line.values.push(values[at]!);
  };
  const flush = () => {
    if (low < 0) return;
    put(Math.min(low, high));
    if (low !== high) put(Math.max(low, high));
    if (!(line.least <= values[low]!)) line.least = values[low]!;
    if (!(line.most >= values[high]!)) line.most = values[high]!;
    low = high = -1;
  };
  const interrupt = (time: number) => {
    flush();
    if (line.values.length > 0 && line.values.at(-1) !== null) {
      line.times.push(time);
      line.values.push(null);
    }
  };
  // One before the window, so that the line begins at its edge.
  for (let at = Math.max(0, firstAfter(times, from) - 1); at < times.length && times[at]! <= to; ++at) {
    const time = times[at]!;
    const value = values[at] ?? NaN;
    if (Number.isNaN(value)) {
      interrupt(time);
      continue;
    }
    if (at > 0 && time - times[at - 1]! > gapMs) interrupt(times[at - 1]! + 1);
    const mine = Math.floor(time / width);
    if (mine !== pixel) flush();
    pixel = mine;
    if (low < 0 || value < values[low]!) low = at;
    if (high < 0 || value > values[high]!) high = at;
  }
  flush();
  return line;
}

function firstAfter(times: Float64Array, from: number): number {
  let begin = 0;
  let end = times.length;
  while (begin < end) {
    const middle = (begin + end) >> 1;
    if (times[middle]! < from) begin = middle + 1;
    else end = middle;
  }
  return begin;
}
