import type { ClassTime } from "./summary";

// One class of GPU work, or all ("").
export function ClassFilter(props: { classes: ClassTime[]; chosen: string; choose: (name: string) => void }) {
  return (
    <select aria-label="Class of GPU work" value={props.chosen} onChange={(event) => props.choose(event.currentTarget.value)}>
      <option value="">All classes</option>
      {props.classes.map((row) => <option key={row.class} value={row.class}>{row.label}</option>)}
    </select>
  );
}
