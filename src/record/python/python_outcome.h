#pragma once

#include <cstdint>

namespace fathom::record {

// What kept Python from being sampled, and how often it was.
struct PythonOutcome {
  std::uint64_t samples = 0;
  std::uint64_t late = 0;    // times at which a sample was left out, because the machine was busy
  bool found = false;        // an interpreter
  bool not_allowed = false;  // to read the memory of the program
  int unknown_minor = -1;    // of an interpreter whose structures are not known: 3.x
};

}  // namespace fathom::record
