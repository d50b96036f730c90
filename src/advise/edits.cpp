#include <algorithm>
#include <cassert>

#include "advise/replay.h"

namespace fathom::advise {
namespace {

using analyze::HostLines;

std::int64_t times(std::int64_t ns, double factor) {
  return static_cast<std::int64_t>(static_cast<double>(ns) * factor);
}

void begin_work_edits(Edits& edits, const ReplayPlan& plan) {
  if (!edits.work_ns.empty()) return;
  for (const analyze::WorkRow& one : plan.on->gpu.rows) {
    edits.work_ns.push_back(one.duration_ns());
  }
}

}  // namespace

std::pair<std::size_t, std::size_t> pieces_within(const HostLines& host, std::uint32_t thread,
                                                  base::Interval time) {
  const auto from = host.start_ns.begin() + host.threads[thread].first;
  const auto to = host.start_ns.begin() + host.threads[thread].last;
  const auto first = std::lower_bound(from, to, time.begin);
  // A piece ends where the next begins; the last one where the line ends.
  const auto end = std::upper_bound(first, to + 1, time.end);
  const auto last = end == first ? first : end - 1;
  return {static_cast<std::size_t>(first - host.start_ns.begin()),
          static_cast<std::size_t>(last - host.start_ns.begin())};
}

std::pair<std::size_t, std::size_t> pieces_touching(const HostLines& host, std::uint32_t thread,
                                                    base::Interval time) {
  const auto from = host.start_ns.begin() + host.threads[thread].first;
  const auto to = host.start_ns.begin() + host.threads[thread].last;
  auto first = std::upper_bound(from, to, time.begin);
  // The one that began before may reach into it.
  if (first != from && *first > time.begin) --first;
  const auto last = std::lower_bound(first, to, time.end);
  return {static_cast<std::size_t>(first - host.start_ns.begin()),
          static_cast<std::size_t>(last - host.start_ns.begin())};
}

void scale_piece(Edits& edits, const ReplayPlan& plan, std::size_t piece, double factor) {
  const HostLines& host = plan.on->host;
  if (edits.piece_ns.empty()) {
    edits.piece_ns.resize(host.span.size());
    for (std::size_t i = 0; i + 1 < host.start_ns.size() && i < host.span.size(); ++i) {
      edits.piece_ns[i] = host.start_ns[i + 1] - host.start_ns[i];
    }
  }
  edits.piece_ns[piece] = times(edits.piece_ns[piece], factor);
}

void scale_host(Edits& edits, const ReplayPlan& plan, trace::SpanId span, double factor) {
  const trace::Spans& spans = plan.trace->spans;
  const std::uint32_t thread = plan.on->host.thread_of_track[spans.track[span]];
  if (thread == HostLines::kNoThread) return;
  const auto [first, last] =
      pieces_within(plan.on->host, thread, {spans.start_ns[span], spans.end_ns(span)});
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
