#pragma once

#include <string>
#include <vector>

#include "explain/analysis.h"

namespace fathom::base {
class JsonWriter;
}

namespace fathom::report {

// What `fathom suggest` says about one trace, which it refers to.
struct SuggestReport {
  const trace::Trace& trace;
  std::string source;  // the file's name
  std::size_t steps = 0;
  advise::Suggestions found;
  std::size_t not_critical = 0;  // left out of `found`, where only critical ones were asked for
};

// With `all`, those that bring less than 3 %, too; with `critical`, only those that bring 20 %.
// `others` are what something else than the trace suggests, and come last.
SuggestReport make_suggest_report(const explain::Analysis& analysis, bool all, bool critical,
                                  const std::vector<advise::Suggestion>& others = {});

// The first `top`, each with what was seen, what it would bring and how.
std::string to_text(const SuggestReport& report, std::size_t top, std::size_t width);

// The first `top`; docs/suggest.schema.json describes it.
std::string to_json(const SuggestReport& report, std::size_t top);

// The list alone, as the page has it too. Times of evidence are those of the trace.
void write_suggestions(base::JsonWriter& json, const advise::Suggestions& found,
                       const trace::Trace& trace, std::size_t top);

}  // namespace fathom::report
