#include "trace/write/lanes.h"

#include <functional>
#include <queue>
#include <utility>

namespace fathom::trace {
namespace {

constexpr std::uint32_t kLanesTried = 16;  // before one that is empty is looked for

// The ends of spans that are open in a lane, outermost first.
using OpenEnds = std::vector<std::int64_t>;

bool fits(OpenEnds& open, std::int64_t start_ns, std::int64_t end_ns) {
  while (!open.empty() && open.back() <= start_ns) open.pop_back();
  return open.empty() || open.back() >= end_ns;
}

class Layout {
 public:
  std::uint32_t place(std::int64_t start_ns, std::int64_t end_ns) {
    if (start_ns == last_start_ns_ && end_ns == last_end_ns_) return last_;
    last_ = choose(start_ns, end_ns);
    last_start_ns_ = start_ns;
    last_end_ns_ = end_ns;
    if (lanes_[last_].empty()) free_at_.push({end_ns, last_});
    lanes_[last_].push_back(end_ns);
    return last_;
  }

 private:
  std::uint32_t choose(std::int64_t start_ns, std::int64_t end_ns) {
    for (std::uint32_t lane = 0; lane < kLanesTried && lane < lanes_.size(); ++lane) {
      if (fits(lanes_[lane], start_ns, end_ns)) return lane;
    }
    while (!free_at_.empty() && free_at_.top().first <= start_ns) {
      const std::uint32_t lane = free_at_.top().second;
      free_at_.pop();
      if (fits(lanes_[lane], start_ns, end_ns) && lanes_[lane].empty()) return lane;
    }
    lanes_.emplace_back();
    return static_cast<std::uint32_t>(lanes_.size() - 1);
  }

  using FreeAt = std::pair<std::int64_t, std::uint32_t>;
  std::vector<OpenEnds> lanes_ = std::vector<OpenEnds>(1);
  std::priority_queue<FreeAt, std::vector<FreeAt>, std::greater<>> free_at_;
  std::uint32_t last_ = 0;
  std::int64_t last_start_ns_ = 0;
  std::int64_t last_end_ns_ = -1;
};

}  // namespace

std::vector<std::uint32_t> lanes_of(const Spans& spans, const Track& track) {
  std::vector<std::uint32_t> lanes;
  lanes.reserve(track.span_count);
  Layout layout;
  for (SpanId id = track.first_span; id < track.first_span + track.span_count; ++id) {
    lanes.push_back(layout.place(spans.start_ns[id], spans.end_ns(id)));
  }
  return lanes;
}

}  // namespace fathom::trace
