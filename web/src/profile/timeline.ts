import type { Part } from "../summary";
import { walkNested } from "./nesting";
import type { Entry } from "./read";

// The timeline of a profile that is dropped onto the page, in the form of src/report/page/timeline.h.

interface Placed {
  entries: Entry[]; // in the order in which they are drawn
  tracks: { name: string; rows: number[] }[]; // how many spans each row has
}

export function timelineOfProfile(entries: Entry[], partOf: (operation: string) => Part): ArrayBuffer {
  const { entries: order, tracks } = placed(entries);
  const names = [...new Set(order.map((entry) => entry.operation))];
  const label = new Map(names.map((name, index) => [name, index]));
  const head = {
    begin_ns: 0, length_ns: order.reduce((last, { end_ns }) => Math.max(last, end_ns), 0), least_host_ns: 0,
    spans: order.length, labels: names.map((name) => [name, "scope", partOf(name), ""]), steps: [],
    tracks: tracks.map(({ name, rows }) => ({ name, short_name: name, process: "", gpu: null, annotations: false, frames: 0, quiet: false, rows })),
    counters: [], instants: [],
  };
  const [gaps, durations, labels] = [new Column(), new Column(), new Column()];
  let at = 0;
  for (const count of tracks.flatMap((track) => track.rows)) {
    let end = 0;
    for (const stop = at + count; at < stop; ++at) {
      const entry = order[at]!;
      gaps.signed(entry.start_ns - end);
      durations.number(entry.end_ns - entry.start_ns);
      labels.number(label.get(entry.operation)!);
      end = entry.end_ns;
    }
  }
  return joined([new TextEncoder().encode(JSON.stringify(head)), gaps.taken(), durations.taken(), labels.taken(), new Uint8Array(), new Uint8Array()]);
}

// The place on the timeline of each entry that was given.
export const placedEntries = (entries: Entry[]): Entry[] => placed(entries).entries;

// A track per thread, a row per depth; what overlaps without being inside is a row further down.
function placed(entries: Entry[]): Placed {
  const rows = new Map<string, { entries: Entry[]; end: number }[]>();
  walkNested(entries, (index, _, depth) => {
    const entry = entries[index]!;
    const ofThread = rows.get(entry.thread) ?? [];
    rows.set(entry.thread, ofThread);
    let row = depth;
    while (row < ofThread.length && ofThread[row]!.end > entry.start_ns) ++row;
    while (ofThread.length <= row) ofThread.push({ entries: [], end: 0 });
    ofThread[row]!.entries.push(entry);
    ofThread[row]!.end = entry.end_ns;
  });
  const tracks = [...rows].map(([thread, ofThread]) => ({ name: thread === "" ? "thread" : `thread ${thread}`, rows: ofThread.map((row) => row.entries.length) }));
  return { entries: [...rows.values()].flatMap((ofThread) => ofThread.flatMap((row) => row.entries)), tracks };
}

// Whole numbers of 7 bits a byte, the lowest first; signed ones as 2n or -2n-1.
class Column {
  private bytes: number[] = [];

  number(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.bytes.push(rest);
  }
  signed(value: number): void {
    this.number(value >= 0 ? 2 * value : -2 * value - 1);
  }
  taken(): Uint8Array {
    return Uint8Array.from(this.bytes);
  }
}

// Each block with its length before it.
function joined(blocks: Uint8Array[]): ArrayBuffer {
  const bytes = new Uint8Array(blocks.reduce((sum, block) => sum + 4 + block.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const block of blocks) {
    view.setUint32(at, block.length, true);
    bytes.set(block, at + 4);
    at += 4 + block.length;
  }
  return bytes.buffer;
}
