import type { Device } from "../serve/api";

// Whether a device that is there has told nothing new for three intervals, and three seconds at least: its driver hangs.
export const isStale = ({ state, age_seconds }: Device, intervalSeconds: number): boolean =>
  state === "ok" && (age_seconds ?? 0) > Math.max(3, 3 * intervalSeconds);
