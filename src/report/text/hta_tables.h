#pragma once

#include <string>

#include "report/hta_report.h"

// The tables of `fathom hta`. Each begins with an empty line; one that would have no rows is empty.
namespace fathom::report {

// What a person calls one of the report's ranks: "rank 3", or what else tells it from the others.
std::string rank_text(const HtaReport& report, const analyze::RankFindings& rank);

// One row per rank.
std::string ranks_table(const HtaReport& report, std::size_t top, std::size_t width);

std::string kernels_table(const analyze::HtaSummary& summary, std::size_t top, std::size_t width);

// Of one GPU: what ran together, idle time, launches, queues, copies, annotations.
std::string rank_tables(const analyze::RankFindings& rank, std::size_t top, std::size_t width);

}  // namespace fathom::report
