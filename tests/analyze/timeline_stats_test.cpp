#include "analyze/run/timeline_stats.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "analyze/operations/host_spans.h"
#include "random_gpu_trace.h"

namespace fathom::analyze::timeline_stats_test {

using trace::SpanId;
using trace::Trace;

TEST(TimelineStats, AgreeWithCountingInstants) {
  std::mt19937 random(6);
  for (int round = 0; round < 400; ++round) {
    const Trace trace = trace::random_gpu_trace(random);
    const HostSpans host(trace);
    std::set<std::int64_t> cpu;
    std::set<std::int64_t> gpu;
    bool has_gpu_work = false;
    for (SpanId id = 0; id < trace.spans.size(); ++id) {
      const bool is_gpu = trace::is_gpu_work(trace.spans.kind[id]);
      has_gpu_work |= is_gpu;
      if (!is_gpu && !host.contains(id)) continue;
      for (std::int64_t t = trace.spans.start_ns[id]; t < trace.spans.end_ns(id); ++t) {
        (is_gpu ? gpu : cpu).insert(t);
      }
    }
    std::int64_t both = 0;
    for (const std::int64_t t : cpu) both += static_cast<std::int64_t>(gpu.count(t));
    const TimelineStats found = timeline_stats(trace);
    EXPECT_EQ(found.cpu_active_ns, static_cast<std::int64_t>(cpu.size()));
    ASSERT_EQ(found.gpu_active_ns.has_value(), has_gpu_work);
    if (!has_gpu_work) continue;
    EXPECT_EQ(*found.gpu_active_ns, static_cast<std::int64_t>(gpu.size()));
    EXPECT_EQ(*found.overlap_ns, both);
    EXPECT_LE(found.cpu_active_ns + *found.gpu_active_ns - both, found.total_ns());
  }
}

TEST(TimelineStats, OfAnEmptyTraceAreNothing) {
  const TimelineStats found = timeline_stats(trace::assemble({}, {}));
  EXPECT_EQ(found.total_ns(), 0);
  EXPECT_FALSE(found.gpu_active_ns);
  EXPECT_TRUE(found.tracks.empty());
}

}  // namespace fathom::analyze::timeline_stats_test
