// The sweeps against brute force: random small traces at colliding times, instant by instant.

#include <gtest/gtest.h>

#include <map>

#include "analyze/gpu_trace.h"
#include "analyze/hta/hta.h"
#include "random_trace.h"

namespace fathom::analyze::hta_property_test {

using trace::pick;
using trace::SpanKind;
using trace::Trace;

constexpr std::int64_t kEnd = 80;

Trace random_gpu_trace(std::mt19937& random) {
  GpuTrace made;
  const std::int64_t count = pick(random, 1, 14);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto kind = static_cast<SpanKind>(
        pick(random, static_cast<int>(SpanKind::kernel), static_cast<int>(SpanKind::fill)));
    const std::string name = pick(random, 0, 2) == 0 ? "ncclDevKernel" : "gemm";
    const std::int64_t start = pick(random, 10, 60);
    const std::int64_t stream = pick(random, 1, 3);
    if (pick(random, 0, 4) == 0) {
      made.work(name, start, pick(random, 0, 12), stream, kind);
    } else {
      made.launch(pick(random, 0, 60), pick(random, 0, 4), name, start, pick(random, 0, 12), stream,
                  kind);
    }
  }
  return made.take();
}

TEST(HtaProperties, TimesOfTypesAreThoseOfCountedInstants) {
  std::mt19937 random(3);
  for (int round = 0; round < 1000; ++round) {
    const Trace trace = random_gpu_trace(random);
    const GpuWork work = gpu_work(trace);
    const BusyTimes times = busy_times(work, work.devices.front());
    std::array<std::int64_t, 8> counted = {};
    for (std::int64_t t = times.begin_ns; t < times.end_ns; ++t) {
      unsigned running = 0;
      for (const WorkRow& row : work.rows) {
        if (row.start_ns <= t && t < row.end_ns) running |= 1U << static_cast<unsigned>(row.type);
      }
      ++counted[running];
    }
    ASSERT_EQ(times.ns, counted);
    const Temporal parts = temporal(times);
    ASSERT_EQ(parts.idle_ns + parts.compute_ns + parts.communication_ns + parts.memory_ns,
              parts.total_ns);
    ASSERT_EQ(idle_of_device(trace, work, work.devices.front()).total_ns(), parts.idle_ns);
  }
}

TEST(HtaProperties, IdleTimeOfAStreamIsThatOfCountedInstants) {
  std::mt19937 random(4);
  for (int round = 0; round < 1000; ++round) {
    const Trace trace = random_gpu_trace(random);
    const GpuWork work = gpu_work(trace);
    const std::vector<StreamIdle> idle = idle_by_stream(trace, work, work.devices.front());
    ASSERT_EQ(idle.size(), work.streams.size());
    for (std::size_t i = 0; i < idle.size(); ++i) {
      const std::span<const WorkRow> rows = work.of(work.streams[i]);
      std::int64_t last_start = rows.back().start_ns;
      std::int64_t counted = 0;
      for (std::int64_t t = rows.front().start_ns; t < last_start; ++t) {
        const bool is_busy = std::any_of(rows.begin(), rows.end(), [&](const WorkRow& row) {
          return row.start_ns <= t && t < row.end_ns;
        });
        counted += is_busy ? 0 : 1;
      }
      ASSERT_EQ(idle[i].causes.total_ns(), counted);
    }
  }
}

TEST(HtaProperties, TheQueueIsThatOfCountedInstants) {
  std::mt19937 random(5);
  for (int round = 0; round < 1000; ++round) {
    const Trace trace = random_gpu_trace(random);
    const GpuWork work = gpu_work(trace);
    for (const QueueLength& queue : queue_lengths(trace, work, work.devices.front())) {
      std::map<std::size_t, std::int64_t> time_at;
      double area = 0;
      for (std::int64_t t = 0; t < kEnd; ++t) {
        std::size_t waiting = 0;
        for (const GpuStream& stream : work.streams) {
          if (stream.stream != queue.stream) continue;
          for (const WorkRow& row : work.of(stream)) {
            if (row.launch == trace::kNoSpan) continue;
            waiting += trace.spans.start_ns[row.launch] <= t && t < row.start_ns ? 1 : 0;
          }
        }
        ++time_at[waiting];
        area += static_cast<double>(waiting);
      }
      ASSERT_NEAR(queue.mean * static_cast<double>(queue.window_ns), area, 1e-6);
      ASSERT_GE(queue.max, time_at.rbegin()->first);  // some wait for no time at all
      ASSERT_LE(queue.p50, queue.p95);
      ASSERT_LE(queue.p95, queue.max);
    }
  }
}

TEST(HtaProperties, LaunchesAreThePairsOfTheSameCorrelation) {
  std::mt19937 random(6);
  for (int round = 0; round < 500; ++round) {
    GpuTrace made;
    const std::int64_t calls = pick(random, 0, 6);
    for (std::int64_t i = 0; i < calls; ++i) {
      made.host(SpanKind::runtime_call, "call", pick(random, 0, 40), pick(random, 0, 5),
                pick(random, 0, 4));
    }
    for (std::int64_t i = 0; i < 8; ++i) {
      made.work("k", pick(random, 10, 60), pick(random, 0, 9), pick(random, 1, 2), SpanKind::kernel,
                pick(random, -1, 5));
    }
    const Trace trace = made.take();
    for (const WorkRow& row : gpu_work(trace).rows) {
      std::vector<trace::SpanId> same;
      for (trace::SpanId id = 0; id < trace.spans.size(); ++id) {
        if (trace.spans.kind[id] == SpanKind::runtime_call &&
            trace.spans.correlation[id] == trace.spans.correlation[row.span]) {
          same.push_back(id);
        }
      }
      ASSERT_EQ(row.launch == trace::kNoSpan, same.empty());
      if (same.empty()) continue;
      ASSERT_EQ(trace.spans.correlation[row.launch], trace.spans.correlation[row.span]);
      // The last that began before the work, else the first of all.
      const std::int64_t chosen = trace.spans.start_ns[row.launch];
      for (const trace::SpanId id : same) {
        const std::int64_t begin = trace.spans.start_ns[id];
        const bool is_before = begin <= row.start_ns;
        ASSERT_TRUE(is_before ? chosen <= row.start_ns && begin <= chosen
                              : chosen <= row.start_ns || chosen <= begin);
      }
    }
  }
}

}  // namespace fathom::analyze::hta_property_test
