#include "analyze/memory/memory_places.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "analyze/operations/steps.h"

namespace fathom::analyze {
namespace {

using trace::MemoryEvent;
using trace::SpanId;
using trace::SpanKind;

// The spans of one track that contain a moment, as the moment moves on; outermost first.
class OpenSpans {
 public:
  OpenSpans(const trace::Trace& trace, trace::TrackId track)
      : spans_(trace.spans),
        next_(trace.tracks[track].first_span),
        end_(next_ + trace.tracks[track].span_count) {}

  const std::vector<SpanId>& at(std::int64_t time_ns) {
    for (; next_ != end_ && spans_.start_ns[next_] <= time_ns; ++next_) {
      if (spans_.end_ns(next_) > time_ns) open_.push_back(next_);
    }
    std::erase_if(open_, [&](SpanId id) { return spans_.end_ns(id) <= time_ns; });
    return open_;
  }

 private:
  const trace::Spans& spans_;
  SpanId next_;
  const SpanId end_;
  std::vector<SpanId> open_;
};

bool is_scope(SpanKind kind) {
  return kind == SpanKind::scope || kind == SpanKind::annotation || kind == SpanKind::unfinished;
}

MemoryPlace place_of(const trace::Trace& trace, const MemoryEvent& event,
                     const std::vector<SpanId>& around) {
  MemoryPlace place;
  const auto kind = [&](SpanId id) { return trace.spans.kind[id]; };
  const auto scope =
      std::find_if(around.rbegin(), around.rend(), [&](SpanId id) { return is_scope(kind(id)); });
  if (scope != around.rend()) {
    place.scope = trace.name(*scope);
    if (place.scope.starts_with(kStepName)) place.scope = kStepName;
  }
  if (event.site != 0) {
    place.call = trace.names.view(event.site);
    return place;
  }
  const auto call = std::find_if(scope.base(), around.end(), [&](SpanId id) {
    return kind(id) == SpanKind::cpu_op || kind(id) == SpanKind::runtime_call;
  });
  if (call != around.end()) {
    place.call = trace.name(*call);
    return place;
  }
  const auto function = std::find_if(around.rbegin(), around.rend(),
                                     [&](SpanId id) { return kind(id) == SpanKind::python; });
  if (function != around.rend()) place.call = trace.name(*function);
  return place;
}

}  // namespace

std::vector<MemoryPlace> memory_places(const trace::Trace& trace,
                                       const std::vector<std::uint32_t>& events) {
  std::vector<std::uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t at) {
    const MemoryEvent& event = trace.memory[events[at]];
    return std::tuple(event.track, event.time_ns);
  };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });

  std::vector<MemoryPlace> places(events.size());
  for (std::size_t i = 0; i < order.size();) {
    const trace::TrackId track = trace.memory[events[order[i]]].track;
    OpenSpans open(trace, track);
    for (; i < order.size() && trace.memory[events[order[i]]].track == track; ++i) {
      const MemoryEvent& event = trace.memory[events[order[i]]];
      places[order[i]] = place_of(trace, event, open.at(event.time_ns));
    }
  }
  return places;
}

}  // namespace fathom::analyze
