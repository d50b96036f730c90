#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "analyze/critical_path/critical_path.h"
#include "trace/corpus.h"
#include "trace/read.h"
#include "trace_maker.h"

namespace fathom::analyze::queue_waits_test {

using trace::SpanKind;
using trace::Trace;

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kKernelNs = 40 * kUs;
constexpr std::int64_t kCallNs = 5 * kUs;

struct Launched {
  Trace trace;
  std::vector<std::int64_t> blocked;  // correlations of launches that waited
};

struct Program {
  std::int64_t count = 2'500;
  std::size_t depth = 1'021;  // so many launches fit into the queue
  const char* call = "cudaLaunchKernel";
  std::int64_t records_on = 0;  // the thread that says when the queue was full; 0: none
  std::int64_t copy_every = 0;  // so often the host copies something to the GPU
};

// One thread launches without a pause.
Launched run(const Program& program) {
  TraceMaker maker;
  Launched made;
  std::vector<std::int64_t> starts;
  std::int64_t host = 0;
  std::int64_t gpu = 0;
  for (std::int64_t i = 1; i <= program.count; ++i) {
    const bool is_copy = program.copy_every > 0 && i % program.copy_every == 0;
    std::int64_t returned = host + kCallNs;
    if (!is_copy && starts.size() >= program.depth) {
      const std::int64_t room = starts[starts.size() - program.depth] + 6 * kUs;
      if (room > returned + 5 * kUs) made.blocked.push_back(i);
      returned = std::max(returned, room);
    }
    maker.call(is_copy ? "cudaMemcpyAsync" : program.call, host, returned - host, i);
    const bool is_blocked = !made.blocked.empty() && made.blocked.back() == i;
    if (program.records_on > 0 && is_blocked) {
      maker.op("Command Buffer Full", host + kUs, returned - host - 2 * kUs, program.records_on,
               SpanKind::overhead);
    }
    gpu = std::max(returned + 4 * kUs, gpu + kUs);
    if (!is_copy) starts.push_back(gpu);
    maker.gpu(is_copy ? "Memcpy HtoD (Pinned -> Device)" : "kernel", gpu, kKernelNs, i, 7,
              is_copy ? SpanKind::copy : SpanKind::kernel);
    gpu += kKernelNs;
    host = returned + kUs;
  }
  maker.call("cudaDeviceSynchronize", host, gpu + 5 * kUs - host);
  made.trace = maker.make();
  return made;
}

// One thread launches on two streams in turn. Each has a queue of its own, or both share one; a
// stream's kernels run one after the other, beside those of the other stream.
Launched run_two_streams(bool is_shared, std::int64_t count = 5'000) {
  constexpr std::size_t kDepth = 1'021;
  TraceMaker maker;
  Launched made;
  std::vector<std::int64_t> starts[2];  // of each queue, as launched
  std::int64_t gpu[2] = {};
  std::int64_t host = 0;
  for (std::int64_t i = 1; i <= count; ++i) {
    const std::size_t stream = i % 2 == 0 ? 0 : 1;
    std::vector<std::int64_t>& queue = starts[is_shared ? 0 : stream];
    std::int64_t returned = host + kCallNs;
    if (queue.size() >= kDepth) {
      const std::int64_t room = queue[queue.size() - kDepth] + 6 * kUs;
      if (room > returned + 5 * kUs) made.blocked.push_back(i);
      returned = std::max(returned, room);
    }
    maker.call("cudaLaunchKernel", host, returned - host, i);
    gpu[stream] = std::max(returned + 4 * kUs, gpu[stream] + kUs);
    queue.push_back(gpu[stream]);
    maker.gpu("kernel", gpu[stream], 2 * kKernelNs, i, static_cast<std::int64_t>(stream) + 7);
    gpu[stream] += 2 * kKernelNs;
    host = returned + kUs;
  }
  made.trace = maker.make();
  return made;
}

std::vector<std::int64_t> found_in(const Trace& trace) {
  std::vector<std::int64_t> found;
  for (const QueueWait& wait : dependencies(trace).queue_waits) {
    found.push_back(trace.spans.correlation[wait.call]);
  }
  return found;
}

TEST(QueueWaits, AreTheLaunchesThatReturnWhenTheOldestInTheQueueBegins) {
  for (const std::size_t depth : {907U, 1'021U}) {
    const Launched made = run({.depth = depth});
    EXPECT_GT(made.blocked.size(), 500U);
    EXPECT_EQ(found_in(made.trace), made.blocked);
    const Dependencies on = dependencies(made.trace);
    for (const QueueWait& wait : on.queue_waits) {
      ASSERT_EQ(wait.work - wait.on, depth);
      ASSERT_EQ(wait.basis, Basis::inferred);
    }
  }
}

TEST(QueueWaits, AreOfEachStreamOrOfTheQueueThatTheyShare) {
  for (const bool is_shared : {false, true}) {
    const Launched made = run_two_streams(is_shared);
    EXPECT_GT(made.blocked.size(), 500U);
    const std::vector<std::int64_t> found = found_in(made.trace);
    std::vector<std::int64_t> missed;
    std::set_difference(made.blocked.begin(), made.blocked.end(), found.begin(), found.end(),
                        std::back_inserter(missed));
    EXPECT_LT(missed.size(), made.blocked.size() / 20) << is_shared;
    EXPECT_LT(found.size(), made.blocked.size() * 21 / 20) << is_shared;
  }
}

TEST(QueueWaits, AreNoneWhereNothingBlocks) {
  EXPECT_TRUE(found_in(run({.depth = 5'000}).trace).empty());
  // Held up by something else, and a runtime with a queue of its own.
  EXPECT_TRUE(found_in(run({.depth = 500}).trace).empty());
  EXPECT_TRUE(found_in(run({.call = "hipLaunchKernel"}).trace).empty());
}

TEST(QueueWaits, AreTakenFromRecordsWhateverTheDepth) {
  for (const std::int64_t thread : {1, 99}) {  // within the call, or on a track of their own
    const Launched made = run({.count = 900, .depth = 300, .records_on = thread});
    EXPECT_GT(made.blocked.size(), 300U);
    EXPECT_EQ(found_in(made.trace), made.blocked);
    EXPECT_EQ(dependencies(made.trace).queue_waits.front().basis, Basis::recorded);
  }
}

// Two GPUs, each with 99 records, which name their launches; of 58 launches the export ends before
// their work. Of the 140 others, 139 return within 50 µs after the work began that made room.
TEST(QueueWaits, OfAnExportOfNsightSystemsAreItsRecords) {
  const auto file = trace::corpus_file("expert/h100_2gpu_1s.sqlite");
  if (!file) GTEST_SKIP() << "no corpus";
  const Trace trace = trace::read_trace(*file);
  std::int64_t records = 0;
  std::int64_t time_ns = 0;
  for (trace::SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.name(id) != "Command Buffer Full") continue;
    ++records;
    time_ns += trace.spans.duration_ns[id];
  }
  EXPECT_EQ(records, 198);
  EXPECT_NEAR(static_cast<double>(time_ns), 912e6, 0.1e6);
  const Dependencies on = dependencies(trace);
  std::size_t with_work = 0;
  std::size_t at_once = 0;
  for (const QueueWait& wait : on.queue_waits) {
    EXPECT_EQ(wait.basis, Basis::recorded);
    if (wait.work == QueueWait::kNoWork) continue;
    ++with_work;
    const std::int64_t after = trace.spans.end_ns(wait.call) - on.gpu.rows[wait.on].start_ns;
    if (after <= 50 * kUs) ++at_once;
  }
  EXPECT_EQ(with_work, 140U);
  EXPECT_EQ(at_once, 139U);
}

TEST(QueueWaits, DoNotCountCopiesFromAndToTheHost) {
  const Launched made = run({.copy_every = 5});
  EXPECT_GT(made.blocked.size(), 300U);
  EXPECT_EQ(found_in(made.trace), made.blocked);
}

TEST(QueueWaits, PutTheGpuOnThePathAndNotTheLaunch) {
  const Launched made = run({});
  const CriticalPath path = critical_path(made.trace);
  const auto share = [&](Bound bound) {
    return static_cast<double>(path.bound_by[static_cast<std::size_t>(bound)]) /
           static_cast<double>(path.total_ns());
  };
  EXPECT_GT(share(Bound::compute), 0.97);
  EXPECT_LT(share(Bound::launch), 0.03);
}

TEST(QueueWaits, EndWhenWorkBeganWithinTheCall) {
  const Launched made = run({});
  const Dependencies on = dependencies(made.trace);
  const QueueWait& last = on.queue_waits.back();
  EXPECT_EQ(queue_wait_of(on, last.call), &last);
  EXPECT_EQ(queue_wait_of(on, trace::kNoSpan), nullptr);
  EXPECT_GT(on.gpu.rows[last.on].start_ns, made.trace.spans.start_ns[last.call]);
  EXPECT_LT(on.gpu.rows[last.on].start_ns, made.trace.spans.end_ns(last.call));
}

}  // namespace fathom::analyze::queue_waits_test
