#pragma once

#include <span>
#include <string>
#include <vector>

#include "advise/suggestion.h"
#include "explain/job.h"
#include "report/kernel_rows.h"
#include "report/recommendations.h"

namespace fathom::report {

// What `fathom hta` says of one or many ranks.
struct HtaReport : explain::Job {
  std::vector<Recommendation> recommendations;  // most gain first
};

// Puts the ranks in order and says what they say together. `suggestions` are those for each trace.
HtaReport make_hta_report(std::vector<analyze::RankFindings> ranks,
                          std::span<const advise::Suggestions> suggestions = {});

// Tables hold `top` rows each and fit `width` columns.
std::string to_text(const HtaReport& report, std::size_t top, std::size_t width,
                    KernelRows kernels = KernelRows::by_name);

// `top` is the number of `top_kernels`; all else is complete. docs/hta.schema.json describes it.
std::string to_json(const HtaReport& report, std::size_t top);

}  // namespace fathom::report
