#include "trace/read/perfetto/flows.h"

#include <algorithm>

#include "perfetto/fields.h"
#include "trace/read/perfetto/message_fields.h"

namespace fathom::trace {
namespace pf = perfetto;

void PerfettoFlows::add(std::string_view event, const SpanRow& row) {
  const auto add_point = [&](std::uint64_t id, bool ends) {
    points_.push_back({id, row.start_ns, row.track, ends});
  };
  for (Fields f(event); f.next();) {
    switch (f.number()) {
      case pf::track_event::kFlowIds:
        for_each_fixed64(f, [&](std::uint64_t id) { add_point(id, false); });
        break;
      case pf::track_event::kTerminatingFlowIds:
        for_each_fixed64(f, [&](std::uint64_t id) { add_point(id, true); });
        break;
      case pf::track_event::kFlowIdsOld:
        for_each_varint(f, [&](std::uint64_t id) { add_point(id, false); });
        break;
      case pf::track_event::kTerminatingFlowIdsOld:
        for_each_varint(f, [&](std::uint64_t id) { add_point(id, true); });
        break;
      default:
        break;
    }
  }
}

void PerfettoFlows::finish() {
  std::stable_sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
    return a.id != b.id ? a.id < b.id : a.time_ns < b.time_ns;
  });
  bool begins = true;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Point& point = points_[i];
    const bool is_last = i + 1 == points_.size() || points_[i + 1].id != point.id;
    const bool ends = !begins && (point.ends || is_last);
    part_.flows.push_back({point.id, point.time_ns, 0, point.track,
                           begins ? FlowPhase::begin
                           : ends ? FlowPhase::end
                                  : FlowPhase::step});
    begins = is_last || point.ends;
  }
  points_ = {};
}

}  // namespace fathom::trace
