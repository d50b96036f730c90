#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/allocator.h"

namespace fathom::trace {

// The segments of a device while a snapshot was recorded: those that it lists are of the end, and
// before that they are what the events say. Where memory is mapped piece by piece (expandable
// segments), those of the end are known since the last piece.
class Segments {
 public:
  void at_the_end(std::uint64_t address, std::int64_t bytes);
  void mapped_at(std::int64_t time_ns);

  // A segment that came (1) or went (-1), in the order of time.
  void change(std::int64_t time_ns, std::uint64_t address, std::int64_t bytes, std::int64_t sign);

  std::vector<AllocatorSegment> all() const;

 private:
  struct Change {
    std::int64_t time_ns = 0;
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::int64_t sign = 0;
  };

  std::vector<AllocatorSegment> last_;
  std::vector<Change> changes_;
  std::optional<std::int64_t> last_mapping_ns_;
};

}  // namespace fathom::trace
