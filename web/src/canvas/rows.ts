// Rectangles in rows, as columns: those of a row are sorted by start and do not overlap. Sums and a
// pyramid of the longest answer, for any stretch of a row, how much of it is covered and which
// rectangle stands for it, in time that does not grow with the stretch.

const kFan = 4; // a level of the pyramid has 1/16 of the entries of the one below

export class Rows {
  private readonly before: Float64Array; // sum of the lengths before each
  private readonly levels: Uint32Array[] = []; // the longest of each 16, of each 256, …

  constructor(
    readonly start: Float64Array,
    readonly length: Float64Array,
    readonly label: Uint32Array, // index of name and colour
    readonly first: Uint32Array, // of each row; one more than there are rows
  ) {
    this.before = new Float64Array(start.length + 1);
    for (let i = 0; i < start.length; ++i) this.before[i + 1] = this.before[i]! + length[i]!;
    this.build();
  }

  get size(): number {
    return this.start.length;
  }
  get rows(): number {
    return this.first.length - 1;
  }
  end(i: number): number {
    return this.start[i]! + this.length[i]!;
  }

  covered(from: number, to: number): number {
    return this.before[to]! - this.before[from]!;
  }

  // The longest of [from, to), which is not empty.
  longest(from: number, to: number): number {
    let best = from;
    let bestLength = -1;
    const consider = (i: number) => {
      if (this.length[i]! > bestLength) {
        best = i;
        bestLength = this.length[i]!;
      }
    };
    for (let level = 0; from < to; ++level, from >>= kFan, to >>= kFan) {
      const entries = level === 0 ? null : this.levels[level - 1]!;
      const at = (i: number) => (entries ? entries[i]! : i);
      const mask = (1 << kFan) - 1;
      while (from < to && from & mask) consider(at(from++));
      while (from < to && to & mask) consider(at(--to));
    }
    return best;
  }

  // The first of [from, to) that starts at or after `at`; looks near `from` first.
  firstStarting(at: number, from: number, to: number): number {
    let step = 1;
    let low = from;
    while (low + step < to && this.start[low + step]! < at) {
      low += step;
      step *= 2;
    }
    let high = Math.min(to, low + step);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.start[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // The first of a row that ends after `at`.
  firstEnding(row: number, at: number): number {
    const from = this.first[row]!;
    const next = this.firstStarting(at, from, this.first[row + 1]!);
    return next > from && this.end(next - 1) > at ? next - 1 : next;
  }

  // What is drawn there, or within `near` of it; -1 where there is nothing.
  find(row: number, at: number, near: number): number {
    const to = this.first[row + 1]!;
    const from = this.firstEnding(row, at - near);
    if (from >= to || this.start[from]! > at + near) return -1;
    const end = Math.max(from + 1, this.firstStarting(at + near, from, to));
    for (let i = from; i < Math.min(end, from + 64); ++i) {
      if (this.start[i]! <= at && at < this.end(i)) return i;
    }
    return this.longest(from, end);
  }

  private build(): void {
    for (let below = this.size; below > 1; ) {
      const count = Math.ceil(below / (1 << kFan));
      const entries = new Uint32Array(count);
      const lower = this.levels.at(-1);
      for (let group = 0; group < count; ++group) {
        let best = -1;
        let bestLength = -1;
        const to = Math.min(below, (group + 1) << kFan);
        for (let i = group << kFan; i < to; ++i) {
          const candidate = lower ? lower[i]! : i;
          if (this.length[candidate]! > bestLength) {
            best = candidate;
            bestLength = this.length[candidate]!;
          }
        }
        entries[group] = best;
      }
      this.levels.push(entries);
      below = count;
    }
  }
}
