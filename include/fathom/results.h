#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fathom/attribute.h"
#include "fathom/figures.h"

namespace fathom {

// One scope. The four times, where known, add up to the duration. What was not measured is absent.
struct Entry : CallFigures {
  std::string operation;
  std::int64_t start_time = 0;  // Unix time in nanoseconds
  std::int64_t end_time = 0;
  std::string device = "cpu";
  std::string backend = "cpu";
  std::vector<Attribute> attributes;
  std::int64_t thread = 0;            // as the system numbers it
  std::optional<std::size_t> parent;  // the entry of the scope around it
  bool failed = false;                // ended by an exception
};

struct Bottleneck {
  std::string operation;
  std::uint64_t calls = 0;
  double self_ns = 0;
  double share = 0;             // of all self time, 0 to 1
  double cumulative_share = 0;  // with those above it
  std::string dominated_by;     // "gpu", "transfer", "overhead" or "cpu"; empty where unknown

  std::uint64_t call_count() const { return calls; }
  double self_time_ms() const { return ms_of(self_ns); }
};

// Blocks that are alive, by who allocated them.
struct MemoryUse {
  std::string scope;  // innermost scope of the allocating thread; empty where there was none
  std::string call;   // that allocated them; empty where the source did not say
  std::int64_t bytes = 0;
  std::uint64_t blocks = 0;

  double allocated_mb() const { return mb_of(bytes); }
};

// What could not be kept: memory is bounded. Statistics are exact all the same.
struct Drops {
  std::uint64_t entries = 0;          // scopes measured, not in entries()
  std::uint64_t recorded_scopes = 0;  // scopes measured, not in the run file
  std::uint64_t activities = 0;       // GPU activities and memory records
  std::uint64_t lost_scopes = 0;      // not measured at all: no memory for their statistics
};

}  // namespace fathom
