import { sentence, type Status } from "../serve/api";

// What is worth saying aloud of the step from one status to the next, a sentence each.
export function changesOf(before: Status | null, now: Status | null): string[] {
  if (!before || !now) return [];
  const sentences: string[] = [];
  const lasted = new Map(before.alerts.map((alert) => [alert.id, alert.cleared_ns === undefined]));
  for (const { id, severity, device, message, cleared_ns } of now.alerts) {
    const lasts = cleared_ns === undefined;
    if (lasts && lasted.get(id) !== true) sentences.push(sentence(`Alert, ${severity}, ${device}: ${message}`));
    if (!lasts && lasted.get(id) === true) sentences.push(sentence(`Cleared, ${device}: ${message}`));
  }
  const states = new Map(before.devices.map(({ uuid, state }) => [uuid, state]));
  for (const { index, uuid, name, state } of now.devices) {
    const was = states.get(uuid);
    if (was === undefined) sentences.push(`GPU ${index}, ${name}, was found.`);
    else if (state === "lost" && was !== "lost") sentences.push(`GPU ${index}, ${name}, is lost.`);
    else if (was === "lost" && state !== "lost") sentences.push(`GPU ${index}, ${name}, is back.`);
  }
  return sentences;
}
