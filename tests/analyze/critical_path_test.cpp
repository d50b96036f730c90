#include "analyze/critical_path/critical_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "analyze/critical_path/path_walk.h"
#include "analyze/critical_path/waits.h"
#include "trace_maker.h"

namespace fathom::analyze::critical_path_test {

using trace::kNoSpan;
using trace::SpanId;
using trace::SpanKind;
using trace::Trace;

constexpr std::int64_t kUs = 1'000;

std::int64_t sum(const BoundTimes& times) {
  return std::accumulate(times.begin(), times.end(), std::int64_t{0});
}

std::int64_t of(const BoundTimes& times, Bound bound) {
  return times[static_cast<std::size_t>(bound)];
}

// In order.
std::vector<PathSegment> segments_of(const Trace& trace, const Dependencies& on) {
  std::vector<PathSegment> segments;
  walk_path(trace, on, [&](const PathSegment& one) { segments.push_back(one); });
  std::reverse(segments.begin(), segments.end());
  return segments;
}

bool is_running(const PathSegment& segment, const Trace& trace) {
  return segment.span != kNoSpan && is_gpu_work(trace.spans.kind[segment.span]) &&
         segment.bound <= Bound::copy;
}

TEST(CriticalPath, HoldsEveryInstantOfTheWallTimeOnce) {
  std::mt19937 random(17);
  for (int round = 0; round < 2000; ++round) {
    const Trace trace = random_gpu_trace(random);
    const CriticalPath path = critical_path(trace);
    ASSERT_EQ(sum(path.bound_by), path.total_ns());
    std::int64_t at = path.begin_ns;
    for (const PathSegment& segment : segments_of(trace, dependencies(trace))) {
      ASSERT_EQ(segment.start_ns, at);
      ASSERT_GT(segment.end_ns, segment.start_ns);
      at = segment.end_ns;
    }
    ASSERT_EQ(at, path.end_ns);
    std::int64_t operations = 0;
    for (const PathOperation& operation : path.operations) operations += operation.path_ns;
    ASSERT_EQ(operations, path.total_ns());
    for (const WorkRow& row : gpu_work(trace).rows) {
      ASSERT_LE(path.begin_ns, row.start_ns);
      ASSERT_GE(path.end_ns, row.end_ns);
    }
    for (const PathStep& step : path.steps) {
      const std::int64_t within = std::max<std::int64_t>(
          0, std::min(step.end_ns, path.end_ns) - std::max(step.start_ns, path.begin_ns));
      ASSERT_EQ(sum(step.bound_by), within);
    }
  }
}

// All that GPU work is known to have waited for, and from when it no longer had to.
std::vector<std::int64_t> ready_times(const Trace& trace, const Dependencies& on,
                                      std::uint32_t index) {
  const WorkRow& row = on.gpu.rows[index];
  std::vector<std::int64_t> ready;
  for (const GpuStream& stream : on.gpu.streams) {
    const bool has_before = stream.first < index && index < stream.first + stream.count;
    if (has_before) ready.push_back(std::min(row.start_ns, on.gpu.rows[index - 1].end_ns));
  }
  for (const GpuWait& wait : on.gpu_waits) {
    if (wait.work == index) {
      ready.push_back(std::min(row.start_ns, on.gpu.rows[wait.on].end_ns));
    }
  }
  const bool has_launch =
      row.launch != kNoSpan &&
      on.host.thread_of_track[trace.spans.track[row.launch]] != HostLines::kNoThread;
  if (has_launch) ready.push_back(std::min(row.start_ns, launch_ready_ns(trace.spans, row)));
  return ready;
}

TEST(CriticalPath, GoesFromWorkToWhatWasReadyLast) {
  std::mt19937 random(19);
  int checked = 0;
  for (int round = 0; round < 2000; ++round) {
    const Trace trace = random_gpu_trace(random);
    const Dependencies on = dependencies(trace);
    const CriticalPath path = critical_path(trace, on);
    const std::vector<PathSegment> segments = segments_of(trace, on);
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const PathSegment& segment = segments[i];
      if (!is_running(segment, trace)) continue;
      const auto row = std::find_if(on.gpu.rows.begin(), on.gpu.rows.end(),
                                    [&](const WorkRow& r) { return r.span == segment.span; });
      ASSERT_EQ(segment.start_ns, row->start_ns);
      const auto ready =
          ready_times(trace, on, static_cast<std::uint32_t>(row - on.gpu.rows.begin()));
      if (ready.empty() || segment.start_ns == path.begin_ns) continue;
      const std::int64_t last =
          std::max(path.begin_ns, *std::max_element(ready.begin(), ready.end()));
      // The time in which it waited is its own, or its call's.
      std::int64_t waited_from = segment.start_ns;
      if (last < segment.start_ns) {
        const PathSegment& before = segments.at(i - 1);
        ASSERT_TRUE(before.span == row->span || before.span == row->launch);
        // A call goes on into itself: its own time before the work joins what the work waited.
        waited_from = before.span == row->span ? before.start_ns : last;
      }
      ASSERT_EQ(waited_from, last);
      ++checked;
    }
  }
  EXPECT_GT(checked, 2000);
}

TEST(CriticalPath, IsAsLongAsAnyChainOfDependentWork) {
  std::mt19937 random(23);
  for (int round = 0; round < 500; ++round) {
    const Trace trace = random_gpu_trace(random);
    const Dependencies on = dependencies(trace);
    // Longest chain that ends with each row, by brute force over rows in order of start.
    std::vector<std::uint32_t> order(on.gpu.rows.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return on.gpu.rows[a].start_ns < on.gpu.rows[b].start_ns;
    });
    std::vector<std::int64_t> chain(on.gpu.rows.size());
    std::int64_t longest = 0;
    for (const std::uint32_t i : order) {
      std::int64_t before = 0;
      for (const std::uint32_t j : order) {
        const bool same_stream =
            trace.spans.track[on.gpu.rows[i].span] == trace.spans.track[on.gpu.rows[j].span];
        const bool waits =
            std::any_of(on.gpu_waits.begin(), on.gpu_waits.end(),
                        [&](const GpuWait& wait) { return wait.work == i && wait.on == j; });
        const bool precedes = on.gpu.rows[j].end_ns <= on.gpu.rows[i].start_ns;
        if (i != j && precedes && (same_stream || waits)) before = std::max(before, chain[j]);
      }
      chain[i] = before + on.gpu.rows[i].duration_ns();
      longest = std::max(longest, chain[i]);
    }
    ASSERT_GE(critical_path(trace, on).total_ns(), longest);
  }
}

// A machine with one thread and two streams, simulated: what each thing waited for is known.
struct Machine {
  struct Node {
    std::int64_t start;
    std::int64_t end;
    Bound bound;
    std::int64_t from;  // the node it waited for, -1 for the begin
    Bound between;      // what the time since then is
  };
  TraceMaker trace;
  std::vector<Node> nodes;
  std::int64_t host = -1;  // last node of each
  std::array<std::int64_t, 2> stream = {-1, -1};
  std::int64_t correlation = 0;

  std::int64_t end_of(std::int64_t node) const {
    return node < 0 ? 0 : nodes[static_cast<std::size_t>(node)].end;
  }
  std::int64_t add(Node node) {
    nodes.push_back(node);
    return static_cast<std::int64_t>(nodes.size()) - 1;
  }

  void compute(std::int64_t duration) {
    const std::int64_t start = end_of(host);
    trace.op("op", start, duration);
    host = add({start, start + duration, Bound::cpu, host, Bound::cpu});
  }
  void launch(std::size_t on, std::int64_t duration) {
    const std::int64_t call = end_of(host);
    trace.call("cudaLaunchKernel", call, 5 * kUs, ++correlation);
    host = add({call, call + 5 * kUs, Bound::launch, host, Bound::launch});
    const bool launch_is_last = end_of(host) > end_of(stream[on]);
    const std::int64_t start = launch_is_last ? end_of(host) + 4 * kUs : end_of(stream[on]) + kUs;
    trace.gpu("kernel", start, duration, correlation, static_cast<std::int64_t>(on) + 7);
    stream[on] = add({start, start + duration, Bound::compute, launch_is_last ? host : stream[on],
                      Bound::launch});
  }
  void synchronize() {
    const std::int64_t call = end_of(host);
    const std::int64_t last = end_of(stream[0]) >= end_of(stream[1]) ? stream[0] : stream[1];
    const std::int64_t end = std::max(call, end_of(last)) + 3 * kUs;
    trace.call("cudaDeviceSynchronize", call, end - call);
    const bool waits = end_of(last) > call;
    host = waits ? add({end_of(last), end, Bound::sync, last, Bound::sync})
                 : add({call, end, Bound::sync, host, Bound::sync});
  }
  BoundTimes truth() const {
    BoundTimes times = {};
    std::int64_t node = host;
    for (const std::int64_t last : stream) {
      if (end_of(last) > end_of(node)) node = last;
    }
    while (node >= 0) {
      const Node& at = nodes[static_cast<std::size_t>(node)];
      times[static_cast<std::size_t>(at.bound)] += at.end - at.start;
      times[static_cast<std::size_t>(at.between)] += at.start - end_of(at.from);
      node = at.from;
    }
    return times;
  }
};

TEST(CriticalPath, IsTheTrueOneOfASimulatedMachine) {
  std::mt19937 random(29);
  for (int round = 0; round < 500; ++round) {
    Machine machine;
    machine.compute(10 * kUs);
    for (int i = 0; i < 40; ++i) {
      const std::int64_t duration = trace::pick(random, 6, 60) * kUs;
      switch (trace::pick(random, 0, 5)) {
        case 0:
          machine.compute(duration);
          break;
        case 1:
          machine.synchronize();
          break;
        default:
          machine.launch(static_cast<std::size_t>(trace::pick(random, 0, 1)), duration);
      }
    }
    machine.synchronize();
    ASSERT_EQ(critical_path(machine.trace.make()).bound_by, machine.truth()) << "round " << round;
  }
}

TEST(CriticalPath, OfAHostThatIsTooSlowIsTheHost) {
  TraceMaker maker;
  for (std::int64_t i = 0; i < 4; ++i) {
    maker.op("aten::mm", i * 100 * kUs, 90 * kUs);
    maker.call("cudaLaunchKernel", (i * 100 + 80) * kUs, 5 * kUs, i);
    maker.gpu("gemm", (i * 100 + 90) * kUs, 20 * kUs, i);
  }
  const CriticalPath path = critical_path(maker.make());
  EXPECT_EQ(path.total_ns(), 410 * kUs);
  EXPECT_EQ(of(path.bound_by, Bound::compute), 20 * kUs);  // the last, which nothing hides
  EXPECT_EQ(of(path.bound_by, Bound::launch), 25 * kUs);
  EXPECT_EQ(of(path.bound_by, Bound::cpu), 365 * kUs);
  EXPECT_EQ(path.operations.front().name, "aten::mm");
}

TEST(CriticalPath, OfADeepQueueIsTheGpu) {
  TraceMaker maker;
  for (std::int64_t i = 0; i < 4; ++i) {
    maker.call("cudaLaunchKernel", i * 10 * kUs, 5 * kUs, i);
    maker.gpu(i == 2 ? "ncclDevKernel_AllReduce" : "gemm", (10 + i * 100) * kUs, 99 * kUs, i);
  }
  maker.call("cudaDeviceSynchronize", 40 * kUs, 380 * kUs);
  const CriticalPath path = critical_path(maker.make());
  EXPECT_EQ(path.total_ns(), 420 * kUs);
  EXPECT_EQ(of(path.bound_by, Bound::compute), 3 * 99 * kUs);
  EXPECT_EQ(of(path.bound_by, Bound::communication), 99 * kUs);
  EXPECT_EQ(of(path.bound_by, Bound::launch), (10 + 3) * kUs);
  EXPECT_EQ(of(path.bound_by, Bound::sync), 11 * kUs);
}

TEST(CriticalPath, NamesDataLoadingWhateverRunsInside) {
  const Trace trace = TraceMaker()
                          .op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 80)
                          .op("aten::stack", 10, 30)
                          .op("aten::mm", 80, 20)
                          .make();
  const CriticalPath path = critical_path(trace);
  EXPECT_EQ(of(path.bound_by, Bound::data_loading), 80);
  EXPECT_EQ(of(path.bound_by, Bound::cpu), 20);
}

TEST(CriticalPath, PartsTheStepsByTheirWindows) {
  const Trace trace = TraceMaker()
                          .step("ProfilerStep#7", 0, 100)
                          .step("ProfilerStep#8", 100, 100)
                          .call("cudaMalloc", 10, 30)
                          .call("cudaMalloc", 150, 20)
                          .make();
  const CriticalPath path = critical_path(trace);
  ASSERT_EQ(path.steps.size(), 2U);
  EXPECT_EQ(path.steps[0].name, "ProfilerStep#7");
  EXPECT_EQ(of(path.steps[0].bound_by, Bound::runtime), 30);
  EXPECT_EQ(of(path.steps[0].bound_by, Bound::cpu), 70);
  EXPECT_EQ(of(path.steps[1].bound_by, Bound::runtime), 20);
}

TEST(CriticalPath, LeavesOutThreadsThatHaveNoPartInIt) {
  const Trace trace = TraceMaker()
                          .op("main", 0, 100)
                          .call("cudaLaunchKernel", 10, 10, 1)
                          .gpu("gemm", 30, 60, 1)
                          .op("tqdm monitor: wait", -500, 2000, 2)
                          .make();
  EXPECT_EQ(critical_path(trace).total_ns(), 100);
}

TEST(CriticalPath, OfNothingIsEmpty) {
  const CriticalPath path = critical_path(TraceMaker().make());
  EXPECT_EQ(path.total_ns(), 0);
  EXPECT_TRUE(path.operations.empty());
}

TEST(CriticalPath, OfGpuWorkAloneIsThatWork) {
  const CriticalPath path = critical_path(TraceMaker()
                                              .gpu("a", 0, 50 * kUs)
                                              .gpu("b", 60 * kUs, 40 * kUs)
                                              .gpu("c", kUs, kUs, 5, 9)
                                              .make());
  EXPECT_EQ(of(path.bound_by, Bound::compute), 90 * kUs);
  EXPECT_EQ(of(path.bound_by, Bound::launch), 10 * kUs);
}

// Half a second of set-up before the first work is no part of the run, nor of any share of it.
TEST(CriticalPath, OfARunIsWithoutItsSetUp) {
  constexpr std::int64_t kMs = 1'000 * kUs;
  TraceMaker maker;
  maker.call("cudaMalloc", 0, 500 * kMs);
  for (int i = 0; i < 10; ++i) {
    const std::int64_t at = 500 * kMs + i * kMs;
    maker.call("cudaLaunchKernel", at, 5 * kUs, i + 1);
    maker.gpu("gemm", at + 9 * kUs, kMs, i + 1);
  }
  const trace::Trace trace = maker.make();
  const Wall run = wall(trace);
  ASSERT_EQ(run.set_up_ns(), 500 * kMs);
  const CriticalPath path = critical_path(trace, dependencies(trace), run);
  EXPECT_EQ(path.total_ns(), run.length_ns());
  EXPECT_EQ(sum(path.bound_by), run.length_ns());
  EXPECT_EQ(path.bound_by[static_cast<std::size_t>(Bound::runtime)], 0);
  EXPECT_GT(path.bound_by[static_cast<std::size_t>(Bound::compute)], 99 * run.length_ns() / 100);
  EXPECT_EQ(critical_path(trace).total_ns(), run.length_ns() + 500 * kMs) << "all of the trace";
}

// The program began before anything was recorded of it, and went on after.
TEST(CriticalPath, OfAProgramIsAllOfItsLife) {
  TraceMaker maker;
  maker.call("cudaLaunchKernel", 100 * kUs, 5 * kUs, 1);
  maker.gpu("gemm", 109 * kUs, 50 * kUs, 1);
  trace::RunInfo life;
  life.begin_ns = 0;
  life.end_ns = 1'000 * kUs;
  const trace::Trace trace = maker.make(life);
  const CriticalPath path = critical_path(trace, dependencies(trace), wall(trace));
  EXPECT_EQ(path.total_ns(), 1'000 * kUs);
  EXPECT_EQ(sum(path.bound_by), path.total_ns());
  EXPECT_EQ(path.bound_by[static_cast<std::size_t>(Bound::unknown)], 941 * kUs);
}

}  // namespace fathom::analyze::critical_path_test
