import type { Source } from "../source";

// The block "memory": src/report/page/memory_block.cpp writes it. Times are nanoseconds since the recording began; what
// is unknown is null.

export interface MemoryBlock {
  headline: string;
  detail: string;
  role_names: string[];
  devices: DeviceHistory[]; // in the order of the summary
  stacks: number[][]; // innermost frame first: numbers in `frames`
  frames: string[];
}

export interface Owner {
  scope: string;
  call: string;
}

// What an allocator had reserved and did not use.
export interface Unused {
  label: string; // "at the peak"
  reserved: number;
  allocated: number;
  free_segment_bytes: number;
  free_segments: number;
  hole_bytes: number;
  largest_free_bytes: number;
}

export interface Failure {
  time_ns: number;
  bytes: number; // that were asked for
  device_free: number | null;
  call: string;
  stack: number;
}

// Bytes at each of the moments `times_ns`, of who allocated them (the first of `owners`), and of what they are for.
export interface DeviceHistory {
  label: string;
  notes: string[];
  hint: string; // what would need less; empty where nothing is known to
  unused_at_peak: Unused | null;
  unused_at_end: Unused | null;
  failures: Failure[];
  peak: number; // its moment
  times_ns: number[];
  owners: Owner[]; // most bytes at a moment first
  of_owners: number[][];
  of_others: number[];
  older: number[]; // from before the recording, and nobody knows whose
  of_roles: { role: string; bytes: number[] }[];
  unused: { free_segments: number[]; holes: number[] } | null;
  spare: (number | null)[]; // reserved and not allocated, where no segments tell it apart; else empty
  blocks: Blocks;
  left_out_blocks: number; // the smallest
}

// A column each. Alive at the moments [from, to), by number; an end of null is none. An owner of null is from before the
// recording.
export interface Blocks {
  owner: (number | null)[];
  stack: number[]; // 0: unknown
  bytes: number[];
  from: number[];
  to: (number | null)[];
  role: (number | null)[];
}

// All that one place had at a moment, the stacks it was allocated from with the most bytes first.
export interface AliveRow {
  owner: Owner | null; // null: from before the recording
  roles: string[];
  blocks: number | null;
  bytes: number;
  stacks: { stack: number; blocks: number; bytes: number }[];
}

const read = new WeakMap<Source, Promise<MemoryBlock | null>>();

export function memoryOf(source: Source): Promise<MemoryBlock | null> {
  let block = read.get(source);
  if (!block) {
    block = source.blob("memory").then((bytes) => (bytes ? (JSON.parse(new TextDecoder().decode(bytes)) as MemoryBlock) : null));
    read.set(source, block);
  }
  return block;
}

// The last of the moments that is not after `ns`.
export function momentAt(times: number[], ns: number): number {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle]! <= ns) low = middle;
    else high = middle - 1;
  }
  return low;
}

// What the device had at one of its moments, whose sum C++ has worked out.
export const levelAt = ({ of_owners, of_others, older }: DeviceHistory, moment: number): number =>
  of_owners.reduce((sum, bytes) => sum + bytes[moment]!, of_others[moment]! + older[moment]!);

// What was alive at a moment, by who allocated it, most bytes first.
export function aliveAt(device: DeviceHistory, moment: number, roleNames: string[]): AliveRow[] {
  const { owner, stack, bytes, from: begin, to: end, role } = device.blocks;
  const rows = new Map<number | null, AliveRow & { byStack: Map<number, AliveRow["stacks"][number]> }>();
  for (let at = 0; at < bytes.length; ++at) {
    if (begin[at]! > moment || (end[at] ?? Infinity) <= moment) continue;
    const whose = owner[at] ?? null;
    let row = rows.get(whose);
    if (!row) {
      row = { owner: whose === null ? null : device.owners[whose]!, roles: [], blocks: 0, bytes: 0, stacks: [], byStack: new Map() };
      rows.set(whose, row);
    }
    row.bytes += bytes[at]!;
    row.blocks! += 1;
    const name = role[at] === null || role[at] === undefined ? null : roleNames[role[at]!]!;
    if (name !== null && !row.roles.includes(name)) row.roles.push(name);
    const from = row.byStack.get(stack[at]!) ?? { stack: stack[at]!, blocks: 0, bytes: 0 };
    from.blocks += 1;
    from.bytes += bytes[at]!;
    row.byStack.set(stack[at]!, from);
  }
  const found: AliveRow[] = [...rows.values()].map(({ byStack, ...row }) => ({ ...row, stacks: [...byStack.values()].sort((a, b) => b.bytes - a.bytes) }));
  // What was there before is known from the level alone where its blocks are not.
  const older = device.older[moment]!;
  const known = found.find((row) => row.owner === null);
  if (known) known.bytes = Math.max(known.bytes, older);
  else if (older > 0) found.push({ owner: null, roles: [], blocks: null, bytes: older, stacks: [] });
  return found.sort((a, b) => b.bytes - a.bytes);
}
