#pragma once

#include <string>

#include "report/hta_report.h"

// The story of a holistic analysis, in sentences; the terminal and the page tell the same.
namespace fathom::report {

// "The GPU was busy 53.9 %. Nearly all of the idle time was spent waiting
// for the host."
std::string hta_story(const HtaReport& report);

// How much of the idle time has its most frequent cause, after a space; empty where little is idle.
// There is GPU work.
std::string idle_sentence(const analyze::HtaSummary& summary);

}  // namespace fathom::report
