#include "report/page/path.h"

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "report/page/packed.h"
#include "report/page/part.h"

namespace fathom::report {
namespace {

using analyze::Bound;
using analyze::PathSegment;

constexpr std::size_t kMostSegments = 60'000;

// Of a long path, pieces that are too short to be seen in all of it stand together: what took the
// longest of them stands for them.
struct Thinned {
  std::vector<PathSegment> segments;
  std::int64_t least_ns = 0;  // how long a piece has to be to stand alone; 0: each does
};

Thinned thinned_out(const std::vector<PathSegment>& segments, std::int64_t total_ns) {
  if (segments.size() <= kMostSegments) return {segments, 0};
  const std::int64_t least_ns = 2 * total_ns / static_cast<std::int64_t>(kMostSegments) + 1;
  const auto length = [](const PathSegment& one) { return one.end_ns - one.start_ns; };
  std::vector<PathSegment> kept;
  std::int64_t longest = 0;  // piece of the last one kept
  for (const PathSegment& segment : segments) {
    const bool joins =
        !kept.empty() && length(segment) < least_ns && length(kept.back()) < least_ns;
    if (!joins) {
      kept.push_back(segment);
      longest = length(segment);
      continue;
    }
    PathSegment& together = kept.back();
    together.end_ns = segment.end_ns;
    if (length(segment) <= longest) continue;
    longest = length(segment);
    together.span = segment.span;
    together.bound = segment.bound;
  }
  return {std::move(kept), least_ns};
}

std::string label_of(Bound bound) {
  std::string label(name_of(bound));
  std::ranges::replace(label, '_', ' ');
  return label;
}

// `begin_ns` is that of the first segment, as the page counts time.
std::string write_head(const analyze::CriticalPath& path, std::int64_t begin_ns,
                       std::int64_t least_ns) {
  std::string head;
  base::JsonWriter json(head);
  json.begin_object().key("begin_ns").value(begin_ns);
  json.key("least_ns").value(least_ns).key("bounds").begin_array();
  for (std::size_t i = 0; i < analyze::kBoundCount; ++i) {
    const auto bound = static_cast<Bound>(i);
    json.begin_object().key("name").value(name_of(bound)).key("label").value(label_of(bound));
    json.key("part").value(page_part(bound)).key("ns").value(path.bound_by[i]).end_object();
  }
  json.end_array().end_object();
  return head;
}

}  // namespace

std::string page_path(const explain::Analysis& analysis, const PageLayout& layout,
                      std::int64_t begin_ns) {
  if (analysis.gpu_work().rows.empty()) return {};
  std::string durations;
  std::string bounds;
  std::string spans;
  std::int64_t last = 0;
  const std::vector<PathSegment>& whole = analysis.path_segments();
  if (whole.empty()) return {};
  const std::int64_t first_ns = whole.front().start_ns;
  const Thinned path = thinned_out(whole, whole.back().end_ns - first_ns);
  for (const PathSegment& segment : path.segments) {
    const bool is_known = segment.span != trace::kNoSpan && layout.place[segment.span] != kNoPlace;
    append_number(durations, static_cast<std::uint64_t>(segment.end_ns - segment.start_ns));
    append_number(bounds, static_cast<std::uint64_t>(segment.bound) * 2 + (is_known ? 1 : 0));
    if (!is_known) continue;
    const std::int64_t place = layout.place[segment.span];
    append_signed(spans, place - last);
    last = place;
  }
  std::string out;
  append_column(out, write_head(analysis.critical_path(), first_ns - begin_ns, path.least_ns));
  for (const std::string* column : {&durations, &bounds, &spans}) append_column(out, *column);
  return out;
}

}  // namespace fathom::report
