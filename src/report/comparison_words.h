#pragma once

#include <optional>
#include <string>

#include "compare/comparison.h"

// Words of a comparison that the terminal, JSON and the page share.
namespace fathom::report {

using compare::ChangeType;
using compare::Comparison;
using compare::OperationChange;

std::string side_label(const std::vector<std::string>& files);  // "run1.json and 4 more"
std::string percent_text(double pct);                           // "+4.2 %", "−4.2 %"
std::string duration_text(double ns);                           // "+1.2 ms"
std::string interval_text(
    const compare::Verdict& verdict);  // "+1.0 … +7.4"; empty where there is none
std::string calls_text(const OperationChange& change);      // "98", "98 → 2"
std::string verdict_word(const compare::Verdict& verdict);  // "SLOWER", "suspect"

// "2 slower · 1 faster · 40 the same"; empty where there are no operations.
std::string counts(const Comparison& comparison);

// "3 operations below 0.01 % of the time are left out; --all shows them"; empty where none is.
std::string left_out_text(std::size_t count);

// What would decide what these runs leave open; empty where nothing is open.
std::string advice(const Comparison& comparison);

// What else changed of an operation than the time of a call: its tail, the mix of its levels, its
// memory. Empty where nothing did.
std::string beside_the_centre(const OperationChange& change, double threshold_pct);

std::optional<double> peak_change_pct(const Comparison& comparison);

}  // namespace fathom::report
