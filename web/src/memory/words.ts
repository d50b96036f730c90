import type { Owner } from "./block";

export const kOlder = "(allocated before the recording)";
export const kNobody = "(nothing recorded around it)";

export const placeOf = (use: Owner | null): string =>
  use === null ? kOlder : [use.call, use.scope].filter(Boolean).join(" · ") || kNobody;
