// Figures as people read them, in the same form as base/format.cpp: "238.3 ms", "1,616", "31.6 %".

// toFixed, but for what lies half way between two: that goes to the even one, as C++ has it.
function fixed(value: number, digits: number): string {
  const isHalfWay = Math.abs(value * 2 ** (digits + 1)) % 2 === 1;
  if (!isHalfWay) return value.toFixed(digits);
  const below = Math.floor(Math.abs(value) * 10 ** digits);
  const even = below % 2 === 0 ? below : below + 1;
  return ((Math.sign(value) * even) / 10 ** digits).toFixed(digits);
}

// A value, the digits after its point, and its unit.
type Figure = [value: number, digits: number, unit: string];

const written = ([value, digits, unit]: Figure): string => `${fixed(value, digits)} ${unit}`;

// Without a fraction of nothing, for the axes of charts: "400 ms".
const writtenShort = ([value, digits, unit]: Figure): string => `${Number(fixed(value, digits))} ${unit}`;

// One digit after the point where it says something.
const scaled = (value: number, unit: string): Figure =>
  [value, Math.abs(value) < 999.95 && value !== Math.floor(value) ? 1 : 0, unit];

function durationFigure(ns: number): Figure {
  const size = Math.abs(ns);
  if (size >= 0.99995e9) return [ns / 1e9, 2, "s"];
  if (size >= 0.99995e6) return [ns / 1e6, 1, "ms"];
  if (size >= 0.99995e3) return [ns / 1e3, 1, "µs"];
  return scaled(ns, "ns");
}

const kByteUnits: [number, string][] = [[2 ** 40, "TB"], [2 ** 30, "GB"], [2 ** 20, "MB"], [2 ** 10, "KB"]];
export const kBytesPerMb = 2 ** 20;

function bytesFigure(bytes: number): Figure {
  const unit = kByteUnits.find(([size]) => Math.abs(bytes) >= size);
  return unit ? scaled(bytes / unit[0], unit[1]) : [bytes, 0, "B"];
}

export const formatDuration = (ns: number): string => written(durationFigure(ns));
export const formatBytes = (bytes: number): string => written(bytesFigure(bytes));
export const durationTick = (ns: number): string => (ns === 0 ? "0" : writtenShort(durationFigure(ns)));
export const bytesTick = (bytes: number): string => (bytes === 0 ? "0" : writtenShort(bytesFigure(bytes)));

// How far apart the ticks of an axis of bytes are, so that `ticks` or fewer reach the most and each is round.
export function bytesStep(most: number, ticks: number): number {
  const least = Math.max(1, most / ticks);
  const unit = kByteUnits.find(([size]) => least >= size)?.[0] ?? 1;
  return unit * ([1, 2, 5, 10, 20, 50, 100, 200, 500].find((step) => step * unit >= least) ?? 1024);
}

// A time with as many digits as the step between ticks needs: "1.2034 s", "350 µs".
export function tickText(ns: number, step: number): string {
  if (ns === 0) return "0";
  const [unit, name] = ns >= 1e9 || step >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : ns >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  const digits = Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9));
  return `${(ns / unit).toFixed(Math.min(9, digits))} ${name}`;
}

export const formatCount = (count: number): string => Math.round(count).toLocaleString("en-US");

export const formatPercent = (percent: number): string => `${fixed(percent, 1).replace(/\B(?=(\d{3})+\.)/g, ",")} %`;

export const formatPlural = (count: number, singular: string, plural: string): string =>
  `${formatCount(count)} ${count === 1 ? singular : plural}`;

// What a change saves of the run, "saves 4.2 %"; of a bound, what it saves at most.
export const formatGain = (percent: number, isBound: boolean, isRough: boolean): string =>
  `saves ${isBound ? "at most " : isRough ? "roughly " : ""}${formatPercent(percent)}`;

// A time of the day, "10:22:31"; with the day for what may be of another, "18 Nov 2026, 10:22". As the reader's clock has it.
export const formatClock = (ms: number): string => new Date(ms).toLocaleTimeString("en-GB");
export const formatMoment = (ms: number): string =>
  new Date(ms).toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

// How long something lasted, as people say it: "42 s", "12 min 4 s", "3 h 12 min", "2 d 3 h".
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, ms / 1000);
  if (seconds < 9.95) return `${fixed(seconds, 1)} s`;
  const whole = Math.round(seconds);
  const units: [number, string][] = [[86_400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = units.findIndex(([size]) => whole >= size);
  const [size, unit] = units[first]!;
  const [small, smallUnit] = units[first + 1] ?? [0, ""];
  const rest = small > 0 ? Math.floor((whole % size) / small) : 0;
  return `${Math.floor(whole / size)} ${unit}${rest > 0 ? ` ${rest} ${smallUnit}` : ""}`;
}

// A C++ kernel by what tells it apart: without its namespaces, what it returns and what it takes.
//   void at::native::reduce_kernel<512, at::native::ReduceOp<float> >(at::native::ReduceOp<float>)
//   → reduce_kernel<512, ReduceOp<float> >
// `depth` of the innermost namespaces stay.
export function shortName(name: string, depth = 0): string {
  if (!/^void |::|\w\(/.test(name)) return name || "(no name)";
  const bare = name
    .replace(/^void /, "")
    .replaceAll("(anonymous namespace)::", "")
    .replace(/(?:\w+::)+(?=[\w~])/g, (spaces) => (depth === 0 ? "" : `${spaces.split("::").slice(0, -1).slice(-depth).join("::")}::`));
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
