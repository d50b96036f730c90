#include "trace/read/snapshot/segments.h"

#include <algorithm>
#include <unordered_map>

namespace fathom::trace {

void Segments::at_the_end(std::uint64_t address, std::int64_t bytes) {
  AllocatorSegment segment;
  segment.address = address;
  segment.bytes = bytes;
  last_.push_back(segment);
}

void Segments::mapped_at(std::int64_t time_ns) {
  last_mapping_ns_ = std::max(last_mapping_ns_.value_or(time_ns), time_ns);
}

void Segments::change(std::int64_t time_ns, std::uint64_t address, std::int64_t bytes,
                      std::int64_t sign) {
  changes_.push_back({time_ns, address, bytes, sign});
}

// From the end back to the beginning.
std::vector<AllocatorSegment> Segments::all() const {
  std::vector<AllocatorSegment> found = last_;
  if (last_mapping_ns_) {
    for (AllocatorSegment& segment : found) segment.begin_ns = *last_mapping_ns_;
    return found;
  }
  std::unordered_map<std::uint64_t, std::size_t> there;  // address → segment
  for (std::size_t i = 0; i < found.size(); ++i) there[found[i].address] = i;
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
    if (change->sign < 0) {
      there[change->address] = found.size();
      AllocatorSegment segment;
      segment.address = change->address;
      segment.bytes = change->bytes;
      segment.end_ns = change->time_ns;
      found.push_back(segment);
      continue;
    }
    const auto known = there.find(change->address);
    if (known == there.end()) continue;
    found[known->second].begin_ns = change->time_ns;
    there.erase(known);
  }
  return found;
}

}  // namespace fathom::trace
