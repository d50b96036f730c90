// Comma-separated values as spreadsheets and scripts read them (RFC 4180). What is unknown is empty.
export type Cell = string | number | null;

export const csvOf = (rows: readonly (readonly Cell[])[]): string => `${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;

// A name that a spreadsheet would take for a formula is text: names come from traces, and a trace may come from anybody.
function cell(value: Cell): string {
  if (value === null) return "";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// A time since 1970 as programs read it: "2026-11-18T10:22:31.000Z".
export const timeCell = (ns: number | null | undefined): Cell => (ns == null ? null : new Date(ns / 1e6).toISOString());
