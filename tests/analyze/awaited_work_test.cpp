#include <gtest/gtest.h>

#include <numeric>

#include "analyze/critical_path/critical_path.h"
#include "trace/corpus.h"
#include "trace/read.h"
#include "trace_maker.h"

// Hosts that wait while the GPU runs what they wait for, in traces that do not say so plainly: the
// path is the GPU's work.
namespace fathom::analyze::awaited_work_test {

using trace::SpanKind;
using trace::Trace;

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kMs = 1'000'000;

std::int64_t of(const CriticalPath& path, Bound bound) {
  return path.bound_by[static_cast<std::size_t>(bound)];
}

void expect_bound(const Trace& trace, Bound bound, std::int64_t ns, std::int64_t rest_ns) {
  const CriticalPath path = critical_path(trace);
  EXPECT_EQ(of(path, bound), ns) << name_of(bound);
  EXPECT_LE(path.total_ns() - of(path, bound), rest_ns);
}

// The launch of work without a record was before that of the work behind it.
TEST(AwaitedWork, OnTheWaitedStreamNeedsNoLaunchRecord) {
  for (const char* wait :
       {"cudaStreamSynchronize", "cudaDeviceSynchronize", "hipEventSynchronize"}) {
    SCOPED_TRACE(wait);
    TraceMaker maker;
    maker.call("cudaLaunchKernel", 0, 5 * kUs, 1);
    maker.call(wait, 10 * kUs, 8'995 * kUs);
    maker.gpu("unlinked", 20 * kUs, 4'980 * kUs, 99).gpu("linked", 5'001 * kUs, 3'999 * kUs, 1);
    expect_bound(maker.make(), Bound::compute, 8'979 * kUs, 26 * kUs);
  }
}

TEST(AwaitedWork, WithinAWaitNeedsNoLaunchRecord) {
  for (const char* wait : {"cudaStreamSynchronize", "cudaDeviceSynchronize"}) {
    SCOPED_TRACE(wait);
    TraceMaker maker;
    maker.call(wait, 100 * kUs, 8'910 * kUs);
    maker.gpu("u1", 0, 4'800 * kUs, 98).gpu("u2", 4'801 * kUs, 4'200 * kUs, 99);
    maker.call("cudaLaunchKernel", 9'020 * kUs, 5 * kUs, 1).gpu("linked", 9'030 * kUs, 10 * kUs, 1);
    expect_bound(maker.make(), Bound::compute, 9'010 * kUs, 30 * kUs);
  }
}

// What other threads launch while a call waits is not what it waits for.
TEST(AwaitedWork, LaunchedAfterTheCallIsNotWaitedFor) {
  TraceMaker maker;
  maker.call("cudaLaunchKernel", 0, 5 * kUs, 1).gpu("awaited", 10 * kUs, 1'000 * kUs, 1, 7);
  maker.call("cudaDeviceSynchronize", 10 * kUs, 1'005 * kUs);
  maker.call("cudaLaunchKernel", 20 * kUs, 5 * kUs, 2, 2);
  maker.gpu("other", 30 * kUs, 980 * kUs, 2, 8);
  const Trace trace = maker.make();
  const Dependencies found = dependencies(trace);
  ASSERT_EQ(found.host_waits.size(), 1U);
  EXPECT_EQ(trace.name(found.gpu.rows[found.host_waits[0].on].span), "awaited");
}

TEST(AwaitedWork, MayEndAFewMicrosecondsAfterTheWaitReturned) {
  for (const char* wait : {"hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize"}) {
    for (const std::int64_t beyond : {-5, 1, 3, 8, 15}) {
      SCOPED_TRACE(std::string(wait) + " " + std::to_string(beyond));
      TraceMaker maker;
      maker.call("hipLaunchKernel", 0, 5 * kUs, 1);
      maker.gpu("kernel", 6 * kUs, (3'994 + beyond) * kUs, 1);
      maker.call(wait, 10 * kUs, 3'990 * kUs).op("after", 4'001 * kUs, 20 * kUs);
      expect_bound(maker.make(), Bound::compute, (3'994 + std::min<std::int64_t>(beyond, 0)) * kUs,
                   35 * kUs);
    }
  }
}

// An upload of a few bytes that comes after long work: clocks say that it began after the return.
TEST(AwaitedWork, MayBeginAFewMicrosecondsAfterTheWaitReturned) {
  TraceMaker maker;
  maker.call("cudaLaunchKernel", 0, 5 * kUs, 1).gpu("kernel", 9 * kUs, 3'990 * kUs, 1);
  maker.call("cudaMemcpyAsync", 6 * kUs, 5 * kUs, 2);
  maker.gpu("Memcpy HtoD (Pageable -> Device)", 4'004 * kUs, kUs, 2, 7, SpanKind::copy);
  maker.call("cudaStreamSynchronize", 12 * kUs, 3'988 * kUs, 3);
  maker.gpu("Stream Sync", 12 * kUs, 3'988 * kUs, 3, 7, SpanKind::sync);
  maker.op("after", 4'001 * kUs, 20 * kUs);
  expect_bound(maker.make(), Bound::compute, 3'990 * kUs, 35 * kUs);
}

TEST(AwaitedWork, ThatEndedRightBeforeTheReturnIsPreferredToWhatEndedAfterIt) {
  TraceMaker maker;
  maker.call("cudaLaunchKernel", 0, 5 * kUs, 1).gpu("awaited", 10 * kUs, 980 * kUs, 1, 7);
  maker.call("cudaLaunchKernel", 5 * kUs, 5 * kUs, 2).gpu("other", 20 * kUs, 990 * kUs, 2, 8);
  maker.call("cudaStreamSynchronize", 12 * kUs, 985 * kUs);
  const Trace trace = maker.make();
  const Dependencies found = dependencies(trace);
  ASSERT_EQ(found.host_waits.size(), 1U);
  EXPECT_EQ(trace.name(found.gpu.rows[found.host_waits[0].on].span), "awaited");
}

TEST(AwaitedWork, OfABlockingCopyIsWhatTheCopyWaitedForToo) {
  for (const std::int64_t beyond : {-2, 3, 7}) {
    SCOPED_TRACE(beyond);
    TraceMaker maker;
    maker.call("hipLaunchKernel", 0, 5 * kUs, 1).gpu("kernel", 6 * kUs, 3'974 * kUs, 1);
    maker.call("hipMemcpyWithStream", 10 * kUs, 3'990 * kUs, 2);
    maker.gpu("Memcpy HtoD (Host -> Device)", 3'982 * kUs, (18 + beyond) * kUs, 2, 7,
              SpanKind::copy);
    maker.call("hipLaunchKernel", 4'010 * kUs, 5 * kUs, 3).gpu("next", 4'020 * kUs, 50 * kUs, 3);
    expect_bound(maker.make(), Bound::compute, 4'024 * kUs, 46 * kUs);
  }
}

TEST(AwaitedWork, OfAnAsynchronousCopyIsNothing) {
  TraceMaker maker;
  maker.call("cudaMemcpyAsync", 0, 12 * kUs, 1);
  maker.gpu("Memcpy HtoD (Pinned -> Device)", 11 * kUs, 5 * kUs, 1, 7, SpanKind::copy);
  EXPECT_TRUE(dependencies(maker.make()).host_waits.empty());
}

TEST(AwaitedWork, OfACopyWithoutALaunchRecordIsTheCollectiveThatEndedBeforeIt) {
  TraceMaker maker;
  maker.gpu("gemm", 0, 2 * kMs, 97, 0);
  maker.gpu("ncclDevKernel_Generic", 2 * kMs, 8 * kMs, 98, 4);
  maker.gpu("Memcpy DtoD (Device -> Device)", 10 * kMs + 15 * kUs, 10 * kUs, 99, 0, SpanKind::copy);
  maker.call("hipLaunchKernel", kMs, 5 * kUs, 1).gpu("next", 10 * kMs + 26 * kUs, kMs, 1, 0);
  maker.call("hipDeviceSynchronize", 2 * kMs, 9'030 * kUs);
  const CriticalPath path = critical_path(maker.make());
  EXPECT_EQ(of(path, Bound::communication), 8 * kMs);
  EXPECT_EQ(of(path, Bound::compute), 3 * kMs);
  EXPECT_EQ(of(path, Bound::unknown), 0);
}

TEST(AwaitedWork, OfTheCorpusIsOnThePath) {
  const std::vector<std::string> files = trace::corpus_files("critical_path");
  if (files.empty()) GTEST_SKIP() << "no corpus";
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const CriticalPath path = critical_path(trace::read_trace(file));
    EXPECT_GT(of(path, Bound::compute), 0.95 * static_cast<double>(path.total_ns()));
    // Before and after the work: 100 µs of a wait before work begins whose launch is not recorded.
    EXPECT_LE(of(path, Bound::sync), 110 * kUs);
  }
}

}  // namespace fathom::analyze::awaited_work_test
