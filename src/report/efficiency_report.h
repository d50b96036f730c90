#pragma once

#include <string>
#include <vector>

#include "analyze/efficiency/efficiency.h"
#include "base/json_writer.h"

namespace fathom::report {

// How well the GPUs were used, in sentences; and where that is not known, what is missing and how
// to get it. The terminal and the page say the same.
std::vector<std::string> efficiency_sentences(const analyze::Efficiency& used);

// How well a class of work was run, to go on after its name: ", at 61.9 % of the peak, which is
// good", ", at 38.1 % of the memory bandwidth". Where that is unknown: why, or how to record the
// shapes that would tell; nothing for a program that has none.
std::string class_use_text(const analyze::Efficiency& used, analyze::KernelClass kernel_class);

// Matrix products, where they are 10 % of the GPU's time and fast: there is nothing to gain from
// them. "GEMM (28.0 %) is fine, at 61.9 % of the peak."; else empty.
std::string good_gemm_text(const analyze::Efficiency& used);

// "610.5 TFLOP/s" where arithmetic limits it, "1,315 GB/s" where memory does; "–" where unknown.
std::string achieved_text(const analyze::WorkRate* rate);

// Of the peak that limits it: "61.7 %", "39.3 % bw" of the bandwidth; "–" where unknown.
std::string of_peak_text(const analyze::WorkRate* rate);

// Rows of operations and shapes, `top` of them; collectives below. Empty where nothing is known.
std::string efficiency_table(const analyze::Efficiency& used, std::size_t top, std::size_t width);

// The sentences as lines; empty where there are none.
std::string efficiency_lines(const analyze::Efficiency& used, std::size_t width);

// "tflops", "gb_s", "peak_pct", …, in the object that is open; null where unknown.
void write_figures(base::JsonWriter& json, const analyze::NameFigures* figures);

// "efficiency": {…}, in the object that is open. At most `most` rows of work.
void write_efficiency(base::JsonWriter& json, const analyze::Efficiency& used, std::size_t most);

}  // namespace fathom::report
