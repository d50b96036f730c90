import type { Summary } from "./summary";

// Where the data of a report comes from: the page itself, or a profile dropped onto it. The tabs of a report ask only this.
//
// `fathom serve` shows the same page with a block of data named `server` in it (what it holds does not matter). Without the
// block `summary` beside it the page is the server's own (serve/app.tsx): a login, Live, Sessions and Files, which ask
// the server (serve/api.ts). With it, it is the report of one of the server's traces, and has a link back to them.
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

// Of one trace, or of the ranks of a job.
export const hasTimeline = (source: Source): boolean => source.has("timeline") || source.has("ranks");
