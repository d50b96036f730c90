import { formatCount, formatPercent } from "../format";

interface Rate {
  tflops: number | null;
  gb_s: number | null;
  peak_pct: number | null;
  bandwidth_pct: number | null;
}

// Whether the memory limits it, not arithmetic.
const isMemoryBound = (rate: Rate): boolean => (rate.bandwidth_pct ?? 0) >= (rate.peak_pct ?? 0);

// A rate, with as many digits as tell something.
export const rateText = (value: number): string => (value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : formatCount(value));

// "610 TFLOP/s", or "1,315 GB/s" where memory limits it.
export function achievedText(rate: Rate): string {
  if (rate.tflops === null || rate.gb_s === null) return "–";
  return isMemoryBound(rate) ? `${rateText(rate.gb_s)} GB/s` : `${rateText(rate.tflops)} TFLOP/s`;
}

export function ofPeakText(rate: Rate & { efficiency_pct: number | null }): string {
  if (rate.efficiency_pct === null) return "–";
  return formatPercent(rate.efficiency_pct) + (isMemoryBound(rate) ? " bw" : "");
}
