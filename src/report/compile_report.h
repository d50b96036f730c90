#pragma once

#include <optional>
#include <string>

#include "analyze/compile/compile_findings.h"
#include "analyze/compile/compiled_regions.h"

namespace fathom::report {

// A step, or the run where there are none, compiled and not.
struct CompileSpeedup {
  std::int64_t eager_ns = 0;
  std::int64_t compiled_ns = 0;
  bool is_of_steps = false;

  std::optional<double> factor() const {
    if (compiled_ns <= 0 || eager_ns <= 0) return {};
    return static_cast<double>(eager_ns) / static_cast<double>(compiled_ns);
  }
};

// What `fathom compile` says about the logs of a job.
struct CompileReport {
  std::string source;  // the file or folder
  analyze::CompileFindings found;
  std::string trace;                            // of the compiled program; empty without one
  std::optional<analyze::CompiledShare> share;  // of its GPU work; none where it names no region
  std::optional<CompileSpeedup> speedup;
};

// How long compiling took and what was wrong, in a sentence or two.
std::string compile_story(const CompileReport& report);

// Tables hold `top` rows each and fit `width` columns.
std::string to_text(const CompileReport& report, std::size_t top, std::size_t width);

// Everything; docs/compile.schema.json describes it.
std::string to_json(const CompileReport& report);

}  // namespace fathom::report
