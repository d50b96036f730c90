import type { Source } from "./source";
import type { Summary } from "./summary";

// Blocks of data in the page: <script type="application/x-fathom" data-name="…">, gzip in base64.
// page.cpp writes them. Each is decoded once, when first asked for.
export class InlineSource implements Source {
  readonly name = "this report";
  readonly start = document.querySelector("[data-start]")?.getAttribute("data-start") ?? null;
  private args: Promise<Record<string, string>> | null = null;
  private readonly decoded = new Map<string, Promise<ArrayBuffer | null>>();

  // Null where the page carries no report.
  static ofPage(): InlineSource | null {
    return block("summary") ? new InlineSource() : null;
  }

  async summary(): Promise<Summary> {
    const bytes = await this.blob("summary");
    if (!bytes) throw new Error("This page carries no summary.");
    return JSON.parse(new TextDecoder().decode(bytes)) as Summary;
  }

  has(name: string): boolean {
    return block(name) !== null;
  }

  timeline(): Promise<ArrayBuffer | null> {
    return this.blob("timeline");
  }

  blob(name: string): Promise<ArrayBuffer | null> {
    let bytes = this.decoded.get(name);
    if (!bytes) {
      bytes = decode(block(name));
      this.decoded.set(name, bytes);
    }
    return bytes;
  }

  async spanArgs(id: number): Promise<string | null> {
    this.args ??= this.blob("args").then((bytes) =>
      bytes ? (JSON.parse(new TextDecoder().decode(bytes)) as Record<string, string>) : {},
    );
    return (await this.args)[id] ?? null;
  }
}

// Whether `fathom serve` shows this page (source.ts).
export const isServed = (): boolean => block("server") !== null;

function block(name: string): Element | null {
  return document.querySelector(`script[type="application/x-fathom"][data-name="${name}"]`);
}

async function decode(element: Element | null): Promise<ArrayBuffer | null> {
  if (!element) return null;
  const packed = new Blob([bytesOfBase64(element.textContent ?? "")]);
  element.textContent = ""; // the text is large, and is not needed again
  const unpacked = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).arrayBuffer();
}

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = Uint8Array as unknown as { fromBase64?(text: string): Uint8Array<ArrayBuffer> };
  if (native.fromBase64) return native.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
