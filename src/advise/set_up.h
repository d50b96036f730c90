#pragma once

#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace fathom::advise {

struct Facts;

// Calls that take or give back memory of the device, and calls that build or load its programs.
bool allocates(std::string_view call_name);
bool builds_a_program(std::string_view call_name);

// Calls of threads that launch GPU work which set something up, in order: what a program does when
// it starts, and no later step does. What they take is never a saving.
//
//   A program   is built or loaded.
//   Memory      is allocated or given back before the first GPU work.
//   Any call    takes 1 ms and over 10 times what is usual for its name without waiting for the
//               GPU; of launches, only the first of a kernel where there are others to compare.
std::vector<trace::SpanId> set_up_calls(const Facts& facts);

}  // namespace fathom::advise
