import { shortName } from "../format";
import type { Timeline } from "./decode";

// What a span is called where there is little room: a kernel without namespaces and arguments, a Python function before
// the file it stands in: "nn/module.py(1501): _call_impl" → "_call_impl module.py:1501"; what is built in without its address.
export function shortSpanName(name: string, kind: string): string {
  if (kind === "python") {
    const [, file, line, called] = /^(.*)\((\d+)\): (.+)$/.exec(name) ?? [];
    if (called) return `${called} ${file!.slice(file!.lastIndexOf("/") + 1)}:${line}`;
    const [, method, type] = /^<built-in method (\S+) of (\S+) object at 0x[0-9a-f]+>$/.exec(name) ?? [];
    return method ? `${type}.${method} (built in)` : name;
  }
  return kind === "kernel" ? shortName(name) : name;
}

// The short names of a timeline's labels; each is worked out when first asked for.
export function shortNames(timeline: Timeline): (label: number) => string {
  const known: string[] = [];
  return (label) => (known[label] ??= shortSpanName(timeline.names[label]!, timeline.kinds[label]!));
}
