import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Cell } from "./csv";
import { formatCount, formatPlural } from "./format";
import { SaveButton, saveTable } from "./save";
import { useNarrow, usePaper } from "./theme";

export interface Column<Row> {
  label: string;
  // What it sorts by; null, the unknown, sorts last either way.
  value: (row: Row) => number | string | null;
  text: (row: Row) => ComponentChildren;
  width?: number; // pixels; the name has the rest
  narrow?: boolean; // shown where there is room for a few only; the name always is
  left?: boolean; // words begin at the left; the first column always does
  unit?: string; // of `value`: "ns"; a saved table says it
  // What a saved table has, where that is not `value`: one cell, or several, each with its heading.
  saved?: ((row: Row) => Cell) | [heading: string, cell: (row: Row) => Cell][];
}

interface Sorting {
  column: number;
  down: boolean;
}

interface Props<Row> {
  label: { one: string; many: string }; // what the rows are: "kernel", "kernels"
  rows: Row[];
  columns: Column<Row>[]; // the first is the name
  name: (row: Row) => string;
  sort: Sorting;
  height?: number;
  chosen?: Row | null;
  choose?: (row: Row) => void;
  href?: (row: Row) => string; // where its name leads
  filter?: ComponentChildren; // beside the search: what else leaves rows out
  isLive?: boolean; // rows change by themselves, and scrolling stays where it is
}

const kRowHeight = 33;
const kRowsOnPaper = 40;
const kNameWidth = 220; // at least; a narrower window scrolls the table
const kNarrowName = 130;
const kPaperScale = 0.7; // of widths, for the letters there are that much smaller

// A table that sorts and searches. It draws only the rows in view, so fifty thousand are as quick as
// fifty; on paper the first forty.
export function DataTable<Row>(props: Props<Row>) {
  const { rows, columns, name } = props;
  const [query, setQuery] = useState("");
  const [sort, setSort] = useState(props.sort);
  const [top, setTop] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const paper = usePaper();
  const isNarrow = useNarrow() && !paper;
  const seen = columns.map((column, index) => ({ column, index })).filter(({ column, index }) => !isNarrow || index === 0 || column.narrow);

  const shown = useMemo(() => {
    const column = columns[sort.column];
    const found = matching(rows, query, name);
    return column ? sorted(found, column.value, sort.down) : found;
  }, [rows, query, sort, columns]);
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
    setTop(0);
  }, [query, sort, props.isLive ? null : rows]);

  const height = Math.min(props.height ?? 520, (shown.length + 1) * kRowHeight + 2);
  const first = paper ? 0 : Math.max(0, Math.floor(top / kRowHeight) - 8);
  const last = paper ? Math.min(shown.length, kRowsOnPaper) : Math.min(shown.length, first + Math.ceil(height / kRowHeight) + 16);
  const below = paper ? 0 : (shown.length - last) * kRowHeight;

  const fixed = seen.reduce((sum, { column }) => sum + (column.width ?? 0), 0);
  const scale = paper ? kPaperScale : 1;

  return (
    <div class="data">
      <div class="finder">
        <input
          type="search"
          data-finder
          placeholder={`Search ${props.label.many}`}
          aria-label={`Search ${props.label.many}`}
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
        {props.filter}
        <span class="quiet" role="status">
          {query && `${formatCount(shown.length)} of `}{formatPlural(rows.length, props.label.one, props.label.many)}
        </span>
        <span class="grow" />
        {shown.length > 0 && <SaveButton kind="CSV" what={props.label.many} save={() => saveTable(props.label.many, tableOf(shown, columns, name))} />}
      </div>
      <div
        class="scroller"
        ref={scroller}
        tabIndex={0}
        aria-label={props.label.many}
        style={paper ? {} : { height: `${height}px` }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <table aria-rowcount={shown.length + 1} style={{ minWidth: `${scale * ((isNarrow ? kNarrowName : kNameWidth) + fixed)}px` }}>
          <colgroup>
            {seen.map(({ column: { label, width } }) => <col key={label} style={width ? { width: `${scale * width}px` } : {}} />)}
          </colgroup>
          <thead>
            <tr>
              {seen.map(({ column, index }) => (
                <Heading key={column.label} label={column.label} left={column.left ?? false} index={index} sort={sort} setSort={setSort} />
              ))}
            </tr>
          </thead>
          <tbody>
            {first > 0 && <tr class="spacer" style={{ height: `${first * kRowHeight}px` }} />}
            {shown.slice(first, last).map((row, index) => (
              <tr
                key={first + index}
                aria-rowindex={first + index + 2}
                class={row === props.chosen ? "chosen" : ""}
                onClick={props.choose && (() => props.choose?.(row))}
              >
                {seen.map(({ column, index: at }) => (
                  <td key={column.label} class={column.left ? "left" : undefined} title={at === 0 ? name(row) : undefined}>
                    {at === 0 ? <Name row={row} {...props} /> : column.text(row)}
                  </td>
                ))}
              </tr>
            ))}
            {below > 0 && <tr class="spacer" style={{ height: `${below}px` }} />}
          </tbody>
        </table>
      </div>
      {shown.length === 0 && <p class="quiet">{query ? `No ${props.label.many} match “${query}”.` : `No ${props.label.many}.`}</p>}
      {paper && shown.length > last && <p class="quiet">… {formatCount(shown.length - last)} more in the page itself</p>}
    </div>
  );
}

// The name of a row is what the keyboard reaches it by.
function Name<Row>({ row, columns, choose, chosen, href }: Props<Row> & { row: Row }) {
  const text = columns[0]!.text(row);
  if (href) return <a href={href(row)}>{text}</a>;
  if (choose) return <button type="button" class="row-name" aria-pressed={row === chosen}><span class="cut">{text}</span></button>; // the row takes the click
  return <>{text}</>;
}

// All rows that are shown, with whole names, and figures as they are rather than as people read them.
function tableOf<Row>(rows: Row[], columns: Column<Row>[], name: (row: Row) => string): Cell[][] {
  const cells = columns.filter(({ label }) => label !== "").flatMap(({ label, unit, saved, value }, index): [string, (row: Row) => Cell][] =>
    Array.isArray(saved) ? saved : [[unit ? `${label} (${unit})` : label, saved ?? (index === 0 ? name : value)]]);
  return [cells.map(([heading]) => heading), ...rows.map((row) => cells.map(([, cell]) => cell(row)))];
}

function Heading(props: { label: string; left: boolean; index: number; sort: Sorting; setSort: (sort: Sorting) => void }) {
  const { label, index, sort } = props;
  if (!label) return <th scope="col" aria-label="bar" />;
  const mine = sort.column === index;
  // A name begins at A, a figure at the largest.
  const next = { column: index, down: mine ? !sort.down : index > 0 };
  return (
    <th scope="col" class={props.left ? "left" : undefined} aria-sort={mine ? (sort.down ? "descending" : "ascending") : "none"}>
      <button type="button" onClick={() => props.setSort(next)}>
        {label}
        <i aria-hidden="true">{mine ? (sort.down ? " ↓" : " ↑") : ""}</i>
      </button>
    </th>
  );
}

// Rows whose name holds every word of the query, whatever the case.
function matching<Row>(rows: Row[], query: string, name: (row: Row) => string): Row[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = name(row).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function sorted<Row>(rows: Row[], value: (row: Row) => number | string | null, down: boolean): Row[] {
  const sign = down ? -1 : 1;
  return [...rows].sort((left, right) => {
    const a = value(left);
    const b = value(right);
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return a < b ? -sign : a > b ? sign : 0;
  });
}
