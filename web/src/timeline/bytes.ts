// Blocks of many numbers, as src/report/page/packed.h writes them.

export class Bytes {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  get left(): boolean {
    return this.at < this.bytes.length;
  }

  number(): number {
    let byte = this.bytes[this.at++]!;
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80 && shift < 28; shift += 7) {
      byte = this.bytes[this.at++]!;
      value |= (byte & 0x7f) << shift;
    }
    for (let unit = 2 ** 28; byte >= 0x80; unit *= 0x80) { // past what bits can be shifted in
      byte = this.bytes[this.at++]!;
      value += (byte & 0x7f) * unit;
    }
    return value;
  }
  signed(): number {
    const value = this.number();
    if (value < 2 ** 28) return (value >>> 1) ^ -(value & 1);
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

// The columns of a block: its head, as JSON, then bytes.
export function columnsOf(buffer: ArrayBuffer): [head: unknown, ...columns: Bytes[]] {
  const view = new DataView(buffer);
  const blocks: Uint8Array[] = [];
  for (let at = 0; at + 4 <= buffer.byteLength; ) {
    const length = view.getUint32(at, true);
    blocks.push(new Uint8Array(buffer, at + 4, length));
    at += 4 + length;
  }
  const [head, ...columns] = blocks;
  return [JSON.parse(new TextDecoder().decode(head)), ...columns.map((column) => new Bytes(column))];
}
