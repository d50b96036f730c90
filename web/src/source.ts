import type { Summary } from "./summary";

// Where the page's data comes from: the report file itself, a profile dropped onto the page, or
// (later) a server. The page asks only this.
export interface Source {
  // What it is called on the page: a file's name.
  readonly name: string;

  // The tab that was asked for when the page was made; it says so where there is nothing to show.
  readonly start: string | null;

  summary(): Promise<Summary>;

  // Whether it has a block of data of that name.
  has(name: string): boolean;

  // The binary timeline that src/report/page/timeline.cpp writes; null where this source has none.
  timeline(): Promise<ArrayBuffer | null>;

  // Any other named block of data; null where this source has none of that name.
  blob(name: string): Promise<ArrayBuffer | null>;

  // JSON text of a span's arguments; null where they are not known.
  spanArgs(id: number): Promise<string | null>;
}
