import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { summaryOfProfile } from "./profile/summary";
import { readProfile } from "./profile/read";
import type { Source } from "./source";
import type { Summary } from "./summary";

// A profile JSON that the reader dropped or chose; it never leaves the page.
export class ProfileSource implements Source {
  readonly start = null;

  constructor(readonly name: string, private readonly found: Summary) {}

  async summary(): Promise<Summary> {
    return this.found;
  }
  has(): boolean {
    return false;
  }
  async timeline(): Promise<ArrayBuffer | null> {
    return null;
  }
  async blob(): Promise<ArrayBuffer | null> {
    return null;
  }
  async spanArgs(): Promise<string | null> {
    return null;
  }
}

// Throws an Error that says, in a sentence, why a file is no profile.
export async function fileSource(file: File): Promise<Source> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const text = isGzip
    ? await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text()
    : new TextDecoder().decode(bytes);
  return new ProfileSource(file.name, summaryOfProfile(readProfile(text), file.name));
}

// Files dropped anywhere on the page are opened; true while one is held over it.
export function useDrop(open: (file: File) => void): boolean {
  const [over, setOver] = useState(false);
  const opener = useRef(open);
  opener.current = open;
  useLayoutEffect(() => {
    const hold = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (!event.relatedTarget) setOver(false);
    };
    const drop = (event: DragEvent) => {
      const file = event.dataTransfer?.files[0];
      setOver(false);
      if (!file) return;
      event.preventDefault();
      opener.current(file);
    };
    addEventListener("dragover", hold);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", hold);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, []);
  return over;
}
