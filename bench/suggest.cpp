// How long suggesting takes, from the file to all its gains, against reading the same file alone.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "advise/suggest.h"
#include "base/interval_set.h"
#include "floor.h"
#include "ingest_data.h"
#include "trace/read.h"

namespace {

using fathom::bench::print_line;
using fathom::bench::seconds_of;

constexpr int kRounds = 9;
constexpr std::int64_t kPauseNs = 1'000'000;

// A repeated trace has pauses between its repeats that nothing explains, so that its replay is not
// trusted and no change is tried. Without them all is.
void close_pauses(fathom::trace::Trace& trace) {
  fathom::trace::Spans& spans = trace.spans;
  std::vector<fathom::base::Interval> times;
  for (fathom::trace::SpanId id = 0; id < spans.size(); ++id) {
    const fathom::trace::SpanKind kind = spans.kind[id];
    const bool works = is_gpu_work(kind) || kind == fathom::trace::SpanKind::runtime_call ||
                       kind == fathom::trace::SpanKind::cpu_op;
    if (works) times.push_back({spans.start_ns[id], spans.end_ns(id)});
  }
  const fathom::base::IntervalSet busy = fathom::base::normalize(std::move(times));
  std::vector<std::int64_t> closed = {0};  // before each
  for (std::size_t i = 1; i < busy.size(); ++i) {
    const std::int64_t pause = busy[i].begin - busy[i - 1].end;
    closed.push_back(closed.back() + (pause > kPauseNs ? pause : 0));
  }
  const auto moved = [&](std::int64_t time_ns) {
    const auto next = std::upper_bound(
        busy.begin(), busy.end(), time_ns,
        [](std::int64_t time, const fathom::base::Interval& a) { return time < a.begin; });
    if (next == busy.begin()) return time_ns;
    const auto at = static_cast<std::size_t>(next - busy.begin()) - 1;
    // What lies in a pause that is closed goes to its begin.
    const bool is_closed = next != busy.end() && closed[at + 1] > closed[at];
    return (is_closed ? std::min(time_ns, busy[at].end) : time_ns) - closed[at];
  };
  for (fathom::trace::SpanId id = 0; id < spans.size(); ++id) {
    const std::int64_t end = moved(spans.end_ns(id));
    spans.start_ns[id] = moved(spans.start_ns[id]);
    spans.duration_ns[id] = end - spans.start_ns[id];
  }
}

}  // namespace

int main() {
  const std::string file = fathom::bench::make_plain(300);
  double reading = 1e9;
  double suggesting = 1e9;
  bool has_gains = false;
  std::size_t spans = 0;
  std::size_t suggestions = 0;
  for (int round = 0; round < kRounds; ++round) {
    reading = std::min(reading,
                       seconds_of([&] { spans = fathom::trace::read_trace(file).spans.size(); }));
    fathom::trace::Trace trace = fathom::trace::read_trace(file);
    close_pauses(trace);
    suggesting = std::min(suggesting, seconds_of([&] {
                            const fathom::advise::Suggestions found =
                                fathom::advise::suggest(trace);
                            suggestions = found.list.size();
                            has_gains = found.has_gains;
                          }));
  }
  fmt::print("{:.0f} MB, {} spans, {} suggestions {}\n",
             static_cast<double>(std::filesystem::file_size(file)) / 1e6, spans, suggestions,
             has_gains ? "with gains" : "without gains");
  print_line("suggest", reading + suggesting, reading, "s");
  return 0;
}
