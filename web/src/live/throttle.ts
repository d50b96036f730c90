// Why clocks are lower than they could be, in the words of src/monitor/alert_words.cpp.
const kWords: Record<string, string> = {
  hardware_thermal: "too hot (hardware)",
  software_thermal: "too hot (driver)",
  hardware_slowdown: "hardware slowdown",
  power_brake: "external power brake",
  power_cap: "power limit",
  sync_boost: "in step with other GPUs",
  application_clocks: "clocks set by the user",
  display_clocks: "clocks of the display",
  idle: "idle",
};

// Those that a healthy GPU does not have.
export const kAlarming: ReadonlySet<string> = new Set(["hardware_thermal", "software_thermal", "hardware_slowdown", "power_brake"]);

export const throttleWords = (reasons: string[]): string =>
  reasons.length === 0 ? "none" : reasons.map((reason) => kWords[reason] ?? reason.replaceAll("_", " ")).join(", ");
