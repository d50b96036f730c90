#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/builder.h"
#include "trace/read/perfetto/tracks.h"

namespace fathom::trace {

// What our own packets say about the run; it may be spread over several.
struct FathomRun {
  RunInfo info;
  std::vector<NamedFigures> operations;
  std::int64_t time_shift_ns = 0;
  std::vector<ScopeEnd> scope_ends;
  bool is_recording = false;  // by Fathom itself: events without a category are scopes

  void read(std::string_view message);

 private:
  void add_operation(NamedFigures operation);
  void add_device(DeviceInfo device);
};

void shift_times(TracePart& part, std::int64_t by_ns);

}  // namespace fathom::trace
