#pragma once

#include <string>
#include <vector>

#include "compare/comparison.h"

namespace fathom::report {

struct ComparisonReport {
  compare::Comparison comparison;
  std::vector<std::string> base;  // the files of either side
  std::vector<std::string> current;
};

std::string to_text(const ComparisonReport& report, std::size_t top, std::size_t width);

// A row each; empty where there are none.
std::string change_table(const std::vector<const compare::OperationChange*>& changes,
                         std::size_t width);

// What happened to the whole, and which operation has most of it; or why nothing can be said.
std::string story(const compare::Comparison& comparison);

// As docs/compare.schema.json says.
std::string to_json(const ComparisonReport& report);

}  // namespace fathom::report
