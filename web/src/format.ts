// Figures as people read them, in the same form as base/format.cpp: "238.3 ms", "1,616", "31.6 %".

const scaled = (value: number, unit: string): string => {
  const size = Math.abs(value);
  return `${value.toFixed(size < 999.95 && size !== Math.floor(size) ? 1 : 0)} ${unit}`;
};

export function formatDuration(ns: number): string {
  const size = Math.abs(ns);
  if (size >= 0.99995e9) return `${(ns / 1e9).toFixed(2)} s`;
  if (size >= 0.99995e6) return `${(ns / 1e6).toFixed(1)} ms`;
  if (size >= 0.99995e3) return `${(ns / 1e3).toFixed(1)} µs`;
  return scaled(ns, "ns");
}

export function formatBytes(bytes: number): string {
  const size = Math.abs(bytes);
  if (size >= 1e12) return scaled(bytes / 1e12, "TB");
  if (size >= 1e9) return scaled(bytes / 1e9, "GB");
  if (size >= 1e6) return scaled(bytes / 1e6, "MB");
  if (size >= 1e3) return scaled(bytes / 1e3, "KB");
  return `${bytes.toFixed(0)} B`;
}

export const formatCount = (count: number): string => Math.round(count).toLocaleString("en-US");

export const formatPercent = (percent: number): string => `${percent.toFixed(1)} %`;

export const formatPlural = (count: number, singular: string, plural: string): string =>
  `${formatCount(count)} ${count === 1 ? singular : plural}`;

// The same figures without a fraction of nothing, for the axes of charts: "400 ms".
const round = (figure: string): string => figure.replace(/\.0+ /, " ");
export const durationTick = (ns: number): string => (ns === 0 ? "0" : round(formatDuration(ns)));
export const bytesTick = (bytes: number): string => (bytes === 0 ? "0" : round(formatBytes(bytes)));

// A C++ kernel by what tells it apart: without its namespaces, what it returns and what it takes.
//   void at::native::reduce_kernel<512, at::native::ReduceOp<float> >(at::native::ReduceOp<float>)
//   → reduce_kernel<512, ReduceOp<float> >
export function shortName(name: string): string {
  if (!/^void |::|\w\(/.test(name)) return name || "(no name)";
  const bare = name
    .replace(/^void /, "")
    .replaceAll("(anonymous namespace)::", "")
    .replace(/(?:\w+::)+(?=[\w~])/g, "");
  const cut = argumentsAt(bare);
  return (cut > 0 ? bare.slice(0, cut) : bare) || name;
}

// Where the list of arguments begins: the "(" that the last ")" closes, right after a name or ">".
function argumentsAt(name: string): number {
  if (!name.endsWith(")")) return -1;
  let depth = 0;
  for (let at = name.length - 1; at > 0; --at) {
    if (name[at] === ")") ++depth;
    if (name[at] === "(" && --depth === 0) return /[\w>]/.test(name[at - 1]!) ? at : -1;
  }
  return -1;
}

// What is not known is a dash, never a zero.
export const known = <T>(value: T | null, format: (value: T) => string): string =>
  value === null ? "–" : format(value);
