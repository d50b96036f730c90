#pragma once

#include <string>

#include "base/interval_set.h"
#include "trace/trace.h"

namespace fathom::analyze {

// Time that a program spends once, before it does its work. wall.h says what counts.
struct SetUp {
  base::IntervalSet time;
  std::string longest_call;  // empty where there is no set-up
};

// Within `idle`, when no GPU works; the first work began at `first_work_ns`.
SetUp find_set_up(const trace::Trace& trace, const base::IntervalSet& idle,
                  std::int64_t first_work_ns);

}  // namespace fathom::analyze
