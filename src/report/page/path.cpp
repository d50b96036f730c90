#include "report/page/path.h"

#include <algorithm>
#include <ranges>
#include <vector>

#include "analyze/critical_path/path_walk.h"
#include "base/json_writer.h"
#include "report/page/packed.h"
#include "report/page/part.h"

namespace fathom::report {
namespace {

using analyze::Bound;
using analyze::PathSegment;

// In order of time; pieces of one span that follow each other are one.
std::vector<PathSegment> segments_of(const explain::Analysis& analysis) {
  std::vector<PathSegment> segments;
  analyze::walk_path(analysis.trace(), analysis.dependencies(), [&](const PathSegment& segment) {
    const bool goes_on = !segments.empty() && segments.back().span == segment.span &&
                         segments.back().bound == segment.bound;
    if (goes_on) {
      segments.back().start_ns = segment.start_ns;
    } else {
      segments.push_back(segment);
    }
  });
  std::ranges::reverse(segments);
  return segments;
}

std::string label_of(Bound bound) {
  std::string label(name_of(bound));
  std::ranges::replace(label, '_', ' ');
  return label;
}

std::string write_head(const analyze::CriticalPath& path, std::int64_t begin_ns) {
  std::string head;
  base::JsonWriter json(head);
  json.begin_object().key("begin_ns").value(path.begin_ns - begin_ns);
  json.key("bounds").begin_array();
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
  for (const PathSegment& segment : segments_of(analysis)) {
    const bool is_known = segment.span != trace::kNoSpan && layout.place[segment.span] != kNoPlace;
    append_number(durations, static_cast<std::uint64_t>(segment.end_ns - segment.start_ns));
    append_number(bounds, static_cast<std::uint64_t>(segment.bound) * 2 + (is_known ? 1 : 0));
    if (!is_known) continue;
    const std::int64_t place = layout.place[segment.span];
    append_signed(spans, place - last);
    last = place;
  }
  std::string out;
  append_column(out, write_head(analysis.critical_path(), begin_ns));
  for (const std::string* column : {&durations, &bounds, &spans}) append_column(out, *column);
  return out;
}

}  // namespace fathom::report
