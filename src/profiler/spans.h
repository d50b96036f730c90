#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/core.h"

namespace fathom::detail {

// A scope that has ended, as the kept words tell it.
struct ScopeSpan {
  OperationId operation = 0;
  std::int64_t tid = 0;
  std::uint64_t start = 0;  // ticks
  std::uint64_t end = 0;
  std::optional<std::size_t> parent;  // in the same vector
  std::uint64_t instance = 0;
  bool failed = false;
  std::string annotations;
};

// By start; those around first. At most `limit`, the earliest to end.
std::vector<ScopeSpan> read_spans(std::span<const Core::Timeline> timelines, std::size_t limit);

}  // namespace fathom::detail
