import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatBytes, formatDuration } from "./format";
import { flameOfProfile } from "./profile/flame";
import { readProfile, type Entry, type Profile } from "./profile/read";
import { summaryOfProfile } from "./profile/summary";
import { placedEntries, timelineOfProfile } from "./profile/timeline";
import type { Source } from "./source";
import type { Part, Summary } from "./summary";

// A profile JSON that the reader dropped or chose; it never leaves the page. One that is a summary alone has no calls to draw.
export class ProfileSource implements Source {
  readonly start = null;
  private readonly found: Summary;

  constructor(readonly name: string, private readonly profile: Profile) {
    this.found = summaryOfProfile(profile, name);
  }

  async summary(): Promise<Summary> {
    return this.found;
  }
  has(block: string): boolean {
    return (block === "timeline" || block === "flame") && this.profile.entries.length > 0;
  }
  async timeline(): Promise<ArrayBuffer | null> {
    return this.has("timeline") ? timelineOfProfile(this.profile.entries, this.partOf) : null;
  }
  async blob(block: string): Promise<ArrayBuffer | null> {
    return block === "flame" && this.has("flame") ? flameOfProfile(this.profile.entries, this.partOf) : null;
  }
  // The figures of an entry, as they were measured.
  async spanArgs(id: number): Promise<string | null> {
    const entry = placedEntries(this.profile.entries)[id];
    return entry ? JSON.stringify(figuresOf(entry)) : null;
  }

  private readonly partOf = (operation: string): Part => this.found.scopes.find((scope) => scope.name === operation)?.part ?? "cpu";
}

function figuresOf(entry: Entry): Record<string, string> {
  const figures: [string, number | null, (value: number) => string][] = [
    ["GPU", entry.gpu_ns, formatDuration], ["transfer", entry.transfer_ns, formatDuration], ["overhead", entry.overhead_ns, formatDuration],
    ["CPU", entry.cpu_ns, formatDuration], ["memory allocated", entry.memory_bytes, formatBytes], ["peak memory", entry.peak_bytes, formatBytes],
  ];
  return Object.fromEntries(figures.flatMap(([name, value, text]) => (value === null ? [] : [[name, text(value)]])));
}

// Why a file does not open here, and the command that opens it if it is a trace.
export class NotAProfile extends Error {
  constructor(why: string, file: string) {
    super(`${why} ${why.startsWith("This is a trace") ? "To open it" : "If it is a trace"}: fathom open ${shellWord(file)}`);
  }
}

// As a shell reads it back.
const shellWord = (name: string): string => (/^[\w./:,+@%=][\w./:,+@%=-]*$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);

// Throws a NotAProfile that says, in a sentence, why a file is none.
export async function fileSource(file: File): Promise<Source> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const text = isGzip
    ? await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text()
    : new TextDecoder().decode(bytes);
  let profile: Profile;
  try {
    profile = readProfile(text);
  } catch (error) {
    throw new NotAProfile(error instanceof Error ? error.message : String(error), file.name);
  }
  return new ProfileSource(file.name, profile);
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
