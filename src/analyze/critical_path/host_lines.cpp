#include "analyze/critical_path/host_lines.h"

#include <algorithm>
#include <cassert>

#include "analyze/operations/steps.h"

namespace fathom::analyze {
namespace {

using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;

// One thread's line as its spans come in order of start. What runs is a stack by start; what has
// ended under the top shows only when it would come to the top.
class Line {
 public:
  Line(const trace::Spans& spans, HostLines& lines)
      : spans_(spans), lines_(lines), first_(lines.start_ns.size()) {}

  void add(SpanId id) {
    if (spans_.duration_ns[id] <= 0) return;
    close_until(spans_.start_ns[id]);
    running_.push_back(id);
    begin_piece(spans_.start_ns[id], id);
  }

  void finish() {
    close_until(INT64_MAX);
    running_.clear();
  }

 private:
  void close_until(std::int64_t time_ns) {
    while (!running_.empty() && spans_.end_ns(running_.back()) <= time_ns) {
      const std::int64_t end = spans_.end_ns(running_.back());
      while (!running_.empty() && spans_.end_ns(running_.back()) <= end) running_.pop_back();
      begin_piece(end, running_.empty() ? kNoSpan : running_.back());
    }
  }

  void begin_piece(std::int64_t time_ns, SpanId span) {
    if (lines_.start_ns.size() > first_ && lines_.start_ns.back() == time_ns) {
      lines_.start_ns.pop_back();
      lines_.span.pop_back();
    }
    if (lines_.start_ns.size() > first_ && lines_.span.back() == span) return;
    lines_.start_ns.push_back(time_ns);
    lines_.span.push_back(span);
  }

  const trace::Spans& spans_;
  HostLines& lines_;
  std::size_t first_;
  std::vector<SpanId> running_;
};

bool is_host_work(SpanKind kind, bool kinds_are_known) {
  switch (kind) {
    case SpanKind::gpu_annotation:
    case SpanKind::overhead:
    case SpanKind::unfinished:
      return false;
    case SpanKind::other:
      return !kinds_are_known;
    default:
      return !trace::is_gpu_work(kind);
  }
}

}  // namespace

std::uint32_t HostLines::piece_before(const HostThread& thread, std::int64_t time_ns) const {
  assert(begin_ns(thread) < time_ns && time_ns <= end_ns(thread));
  const auto from = start_ns.begin() + thread.first;
  const auto to = start_ns.begin() + thread.last;
  return static_cast<std::uint32_t>(std::lower_bound(from, to, time_ns) - start_ns.begin() - 1);
}

HostLines host_lines(const trace::Trace& trace) {
  const trace::Spans& spans = trace.spans;
  const bool kinds_are_known = std::any_of(spans.kind.begin(), spans.kind.end(), [](SpanKind kind) {
    return kind != SpanKind::other && kind != SpanKind::unfinished;
  });
  HostLines lines;
  // At most two pieces per span. Memory that is not used stays untouched; to grow would copy all.
  lines.start_ns.reserve(2 * spans.size());
  lines.span.reserve(2 * spans.size());
  lines.thread_of_track.assign(trace.tracks.size(), HostLines::kNoThread);
  for (trace::TrackId id = 0; id < trace.tracks.size(); ++id) {
    const trace::Track& track = trace.tracks[id];
    if (track.kind != trace::TrackKind::thread) continue;
    const std::size_t first = lines.start_ns.size();
    Line line(spans, lines);
    for (SpanId span = track.first_span; span < track.first_span + track.span_count; ++span) {
      if (is_host_work(spans.kind[span], kinds_are_known)) line.add(span);
    }
    line.finish();
    if (lines.start_ns.size() == first) continue;
    lines.thread_of_track[id] = static_cast<std::uint32_t>(lines.threads.size());
    lines.threads.push_back({id, static_cast<std::uint32_t>(first),
                             static_cast<std::uint32_t>(lines.start_ns.size() - 1)});
  }
  return lines;
}

HostNames::HostNames(const trace::Trace& trace) : spans_(trace.spans) {
  says_.resize(trace.names.size());
  for (trace::NameId id = 0; id < says_.size(); ++id) {
    const std::string_view name = trace.names.view(id);
    const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
    if (has("DataLoader")) says_[id] = Says::loads_data;
    if (name.starts_with(kStepName) || has("run_backward")) says_[id] = Says::frame;
  }
}

bool HostNames::shows_work(SpanId span) const {
  if (span == kNoSpan) return false;
  const Says says = says_[spans_.name[span]];
  if (says == Says::nothing) return spans_.kind[span] != SpanKind::annotation;
  return says == Says::loads_data;
}

bool HostNames::loads_data(SpanId span) const {
  return span != kNoSpan && says_[spans_.name[span]] == Says::loads_data;
}

bool HostNames::any_loads_data() const {
  return std::find(says_.begin(), says_.end(), Says::loads_data) != says_.end();
}

}  // namespace fathom::analyze
