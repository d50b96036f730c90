#include <algorithm>
#include <array>
#include <cassert>

#include "advise/replay.h"
#include "base/search_near.h"

namespace fathom::advise {
namespace {

using analyze::HostLines;

std::int64_t times(std::int64_t ns, double factor) {
  return static_cast<std::int64_t>(static_cast<double>(ns) * factor);
}

void begin_work_edits(Edits& edits, const ReplayPlan& plan) {
  if (!edits.work_ns.empty()) return;
  edits.work_ns.reserve(plan.on->gpu.rows.size());
  for (const analyze::WorkRow& one : plan.on->gpu.rows) {
    edits.work_ns.push_back(one.duration_ns());
  }
}

void begin_piece_edits(Edits& edits, const ReplayPlan& plan) {
  const HostLines& host = plan.on->host;
  edits.piece_ns.resize(host.span.size());
  for (std::size_t i = 0; i + 1 < host.start_ns.size() && i < host.span.size(); ++i) {
    edits.piece_ns[i] = host.start_ns[i + 1] - host.start_ns[i];
  }
  edits.stretch_ns = plan.stretch_ns;
}

// The stretches that share a piece take what the piece takes now.
void rescale(Edits& edits, const ReplayPlan& plan, std::size_t piece, std::int64_t before,
             std::int64_t after) {
  const std::int64_t end = plan.on->host.start_ns[piece + 1];
  const std::size_t first = plan.first_stretch[piece] & ~ReplayPlan::kWhole;
  for (std::size_t i = first; plan.stretches[i].begin < end; ++i) {
    edits.stretch_ns[i] +=
        time_in_stretch(plan, piece, i, after) - time_in_stretch(plan, piece, i, before);
  }
}

using PieceStart = std::vector<std::int64_t>::const_iterator;

// The pieces of a thread, and which of them is `near`.
std::array<PieceStart, 3> line_of(const HostLines& host, std::uint32_t thread, std::size_t near) {
  const std::size_t first = host.threads[thread].first;
  const std::size_t last = host.threads[thread].last;
  const auto at = [&](std::size_t piece) {
    return host.start_ns.begin() + static_cast<std::ptrdiff_t>(piece);
  };
  return {at(first), at(last), at(std::clamp(near, first, last))};
}

auto begins_before(std::int64_t time_ns) {
  return [time_ns](std::int64_t start_ns) { return start_ns < time_ns; };
}

auto begins_by(std::int64_t time_ns) {
  return [time_ns](std::int64_t start_ns) { return start_ns <= time_ns; };
}

}  // namespace

std::pair<std::size_t, std::size_t> pieces_within(const HostLines& host, std::uint32_t thread,
                                                  base::Interval time, std::size_t near) {
  const auto [from, to, start] = line_of(host, thread, near);
  const auto first = base::partition_point_near(from, to, start, begins_before(time.begin));
  // A piece ends where the next begins; the last one where the line ends.
  const auto end = base::partition_point_near(first, to + 1, first, begins_by(time.end));
  const auto last = end == first ? first : end - 1;
  return {static_cast<std::size_t>(first - host.start_ns.begin()),
          static_cast<std::size_t>(last - host.start_ns.begin())};
}

std::pair<std::size_t, std::size_t> pieces_touching(const HostLines& host, std::uint32_t thread,
                                                    base::Interval time, std::size_t near) {
  const auto [from, to, start] = line_of(host, thread, near);
  auto first = base::partition_point_near(from, to, start, begins_by(time.begin));
  // The one that began before may reach into it.
  if (first != from && *first > time.begin) --first;
  const auto last = base::partition_point_near(first, to, first, begins_before(time.end));
  return {static_cast<std::size_t>(first - host.start_ns.begin()),
          static_cast<std::size_t>(last - host.start_ns.begin())};
}

void scale_piece(Edits& edits, const ReplayPlan& plan, std::size_t piece, double factor) {
  if (edits.piece_ns.empty()) begin_piece_edits(edits, plan);
  const std::int64_t before = edits.piece_ns[piece];
  const std::int64_t after = times(before, factor);
  edits.piece_ns[piece] = after;
  const std::uint32_t stretch = plan.first_stretch[piece];
  if ((stretch & ReplayPlan::kWhole) == 0) return rescale(edits, plan, piece, before, after);
  const std::int64_t most = plan.on->host.span[piece] == trace::kNoSpan ? kLongestLagNs : INT64_MAX;
  edits.stretch_ns[stretch ^ ReplayPlan::kWhole] += std::min(after, most) - std::min(before, most);
}

void scale_host(Edits& edits, const ReplayPlan& plan, trace::SpanId span, double factor) {
  const trace::Spans& spans = plan.trace->spans;
  const std::uint32_t thread = plan.on->host.thread_of_track[spans.track[span]];
  if (thread == HostLines::kNoThread) return;
  const auto [first, last] = pieces_within(
      plan.on->host, thread, {spans.start_ns[span], spans.end_ns(span)}, edits.last_piece);
  edits.last_piece = first;
  for (std::size_t i = first; i < last; ++i) scale_piece(edits, plan, i, factor);
}

void scale_work(Edits& edits, const ReplayPlan& plan, std::uint32_t row, double factor) {
  begin_work_edits(edits, plan);
  edits.work_ns[row] = times(edits.work_ns[row], factor);
}

void shorten_work(Edits& edits, const ReplayPlan& plan, std::uint32_t row, double by_ns) {
  begin_work_edits(edits, plan);
  edits.work_ns[row] =
      std::max<std::int64_t>(0, edits.work_ns[row] - static_cast<std::int64_t>(by_ns));
}

void scale_lag(Edits& edits, const ReplayPlan& plan, std::uint32_t row, double factor) {
  if (edits.lag_ns.empty()) edits.lag_ns = plan.lag_ns;
  edits.lag_ns[row] = times(edits.lag_ns[row], factor);
}

void ignore_waits_of(Edits& edits, const ReplayPlan& plan, trace::SpanId call) {
  const std::vector<analyze::HostWait>& waits = plan.on->host_waits;
  edits.ignored_waits.resize(waits.size());
  const auto by_call = [](const analyze::HostWait& a, trace::SpanId b) { return a.call < b; };
  const auto first = std::lower_bound(waits.begin(), waits.end(), call, by_call);
  for (auto wait = first; wait != waits.end() && wait->call == call; ++wait) {
    edits.ignored_waits[static_cast<std::size_t>(wait - waits.begin())] = true;
  }
}

void join_to_row_before(Edits& edits, const ReplayPlan& plan, std::uint32_t row) {
  assert(!plan.first_of_stream[row]);
  edits.joined.resize(plan.on->gpu.rows.size());
  edits.joined[row] = true;
}

}  // namespace fathom::advise
