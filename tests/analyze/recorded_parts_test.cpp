#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <thread>

#include "analyze/memory/memory.h"
#include "analyze/run/session.h"
#include "analyze/run/split.h"
#include "analyze/run/wall.h"
#include "fathom/fathom.h"
#include "trace/read.h"
#include "trace/scope_parts.h"

namespace fathom::analyze::recorded_parts_test {

constexpr std::int64_t kUs = 1000;

// Runs from `from` microseconds after `since` for `length`.
GpuActivity activity(ActivityKind kind, std::int64_t since, std::int64_t from,
                     std::int64_t length) {
  GpuActivity made;
  made.kind = kind;
  made.name = "made up";
  made.scope = profiler().innermost_scope();
  made.start_ns = since + from * kUs;
  made.end_ns = made.start_ns + length * kUs + 7;  // not whole microseconds
  if (kind == ActivityKind::api_call || kind == ActivityKind::sync) {
    made.thread = gettid();
  } else {
    made.queue = 0;
  }
  return made;
}

void pass(std::int64_t us) {
  const std::int64_t until = now_ns() + us * kUs;
  while (now_ns() < until) {
  }
}

// Kernels over copies over calls, calls inside calls, and those of another thread.
void work() {
  FATHOM_SCOPE("outer");
  pass(200);
  {
    FATHOM_SCOPE("inner");
    const std::int64_t since = now_ns();  // inside, however late the scope began
    pass(100);
    profiler().record(activity(ActivityKind::api_call, since, 200, 500));
    profiler().record(activity(ActivityKind::api_call, since, 300, 100));
    profiler().record(activity(ActivityKind::kernel, since, 400, 150));
    profiler().record(activity(ActivityKind::kernel, since, 500, 300));
    GpuActivity copy = activity(ActivityKind::copy, since, 600, 300);
    copy.bytes = 4096;
    copy.queue = 1;
    profiler().record(copy);
    profiler().record(activity(ActivityKind::fill, since, 1000, 50));
    profiler().record(activity(ActivityKind::sync, since, 1040, 200));
    std::thread([&] {
      profiler().record(activity(ActivityKind::api_call, since, 1300, 200));
    }).join();
    pass(2000);
  }
  profiler().record(activity(ActivityKind::sync, now_ns(), 500, 500));
  pass(4000);
}

// One definition, whoever applies it: what entries() says while the program runs is what the run
// file says when it is read. Scopes begin and end a few nanoseconds apart in the two, for the
// recorder's clock was set earlier; that is CPU time, and nothing else may differ.
TEST(RecordedParts, OfEveryScopeAreThoseThatTheProfilerTold) {
  const std::string path = ::testing::TempDir() + "fathom_recorded_parts.pftrace";
  profiler().reset();
  ASSERT_TRUE(profiler().start_recording(path));
  work();
  profiler().stop_recording();
  const std::vector<Entry> entries = profiler().entries();
  const trace::Trace trace = trace::read_trace(path);
  std::remove(path.c_str());

  ASSERT_EQ(entries.size(), 2U);
  const std::vector<trace::ScopeParts> recorded = trace::scope_parts(trace);
  ASSERT_EQ(recorded.size(), entries.size());
  for (const trace::ScopeParts& scope : recorded) {
    const auto live = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
      return entry.operation == trace.name(scope.span);
    });
    ASSERT_NE(live, entries.end());
    EXPECT_EQ(live->gpu_ns, scope.parts.gpu_ns) << live->operation;
    EXPECT_EQ(live->transfer_ns, scope.parts.transfer_ns) << live->operation;
    EXPECT_EQ(live->overhead_ns, scope.parts.overhead_ns) << live->operation;
    EXPECT_EQ(*live->cpu_ns - live->duration_ns,
              scope.parts.cpu_ns - trace.spans.duration_ns[scope.span])
        << live->operation;
    EXPECT_GT(scope.parts.gpu_ns, 0);
    EXPECT_GT(scope.parts.transfer_ns, 0);
    EXPECT_GT(scope.parts.overhead_ns, 0);
  }

  // The session's sums are those of the scopes; errors that were counted are known to be none.
  const ProfileSession found = session(trace, wall(trace).time, whole_machine(trace),
                                       operations(trace), memory(trace), path);
  for (const Entry& entry : entries) {
    const OperationFigures& scope = found.scopes.at(entry.operation);
    EXPECT_EQ(scope.gpu_ns, static_cast<double>(*entry.gpu_ns));
    EXPECT_EQ(scope.overhead_ns, static_cast<double>(*entry.overhead_ns));
    EXPECT_EQ(scope.errors, 0U);
  }
}

}  // namespace fathom::analyze::recorded_parts_test
