import { placeOf, type StackFrame } from "./data";

// A stack of the user's program, the line that is meant last.
export function Stack({ frames }: { frames: StackFrame[] }) {
  if (frames.length === 0) return null;
  return (
    <ol class="stack">
      {frames.map((frame, index) => (
        <li key={index} title={`${frame.file}:${frame.line}`}>
          <span>{placeOf(frame)}</span> <span class="quiet">{frame.function}</span>
          {frame.code && <code>{frame.code}</code>}
        </li>
      ))}
    </ol>
  );
}
