#pragma once

#include <string_view>

namespace fathom::analyze {

// What to do about a graph break, by the reason that torch gives; empty where there is none to
// give.
std::string_view break_advice(std::string_view reason);

// What to do about a frame that is compiled again and again, by the guard that failed.
std::string_view recompile_advice(std::string_view reason);

// What to do about a frame that could not be compiled and runs without, by type and reason.
std::string_view failure_advice(std::string_view reason);

// What to do where CUDA graphs were not used.
std::string_view cudagraph_advice(std::string_view reason);

// What to do where they are recorded again and again.
std::string_view rerecording_advice();

}  // namespace fathom::analyze
