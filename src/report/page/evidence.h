#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "advise/suggestion.h"
#include "report/page/layout.h"

namespace fathom::report {

// A span on the timeline, with what is told of it beside a link to it.
struct ShownSpan {
  std::string name;
  std::uint32_t place = 0;
  std::int64_t start_ns = 0;  // from the timeline's beginning
  std::int64_t duration_ns = 0;
};

// The first of the spans that show a suggestion, as far as they are drawn. `begin_ns` is where the
// timeline begins.
std::vector<ShownSpan> shown_evidence(const advise::Suggestion& one, const trace::Trace& trace,
                                      const PageLayout& layout, std::int64_t begin_ns);

}  // namespace fathom::report
