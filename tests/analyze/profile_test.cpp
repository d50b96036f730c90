#include "analyze/run/profile.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "trace/read/profile/profile_json.h"

namespace fathom::analyze::profile_test {

trace::Trace read(std::string_view text) {
  return trace::read_profile_json(text, nullptr);
}

TEST(Profile, CountsItsEntriesWhereItHasNoSummary) {
  const trace::Trace trace = read(R"([
    {"operation": "step", "start_time": 1, "end_time": 1.01, "gpu_time_ms": 6, "cpu_time_ms": 4,
     "memory_peak_mb": 2},
    {"operation": "inner", "start_time": 1.001, "end_time": 1.004, "gpu_time_ms": 3},
    {"operation": "inner", "start_time": 1.005, "end_time": 1.009, "gpu_time_ms": null,
     "memory_allocated_mb": 1.5}])");
  ASSERT_TRUE(is_profile(trace));
  const ProfileFindings found = profile_findings(trace);
  ASSERT_EQ(found.scopes.size(), 2U);
  EXPECT_EQ(found.scopes[0].operation, "inner") << "it has more self time";
  EXPECT_EQ(found.scopes[0].calls, 2U);
  EXPECT_EQ(found.scopes[0].self_ns, 7e6);
  EXPECT_EQ(found.scopes[0].p50_ns, 3.5e6);
  EXPECT_EQ(found.scopes[0].gpu_ns, 3e6) << "what is known of it";
  EXPECT_FALSE(found.scopes[0].transfer_ns) << "nobody measured it";
  EXPECT_EQ(found.scopes[1].self_ns, 3e6);
  ASSERT_TRUE(found.parts) << "of the outermost entry alone";
  EXPECT_EQ(found.parts->gpu_ns, 6'000'000);
  EXPECT_EQ(found.parts->cpu_ns, 4'000'000);
  ASSERT_EQ(found.memory.size(), 1U);
  EXPECT_EQ(found.memory[0].bytes, 3 << 19);
  EXPECT_EQ(found.peak_bytes, 2 << 20);
  EXPECT_EQ(found.shares, (std::vector<double>{70, 30}));
}

TEST(Profile, CompletesASummaryOnlyWhereAllCallsAreThere) {
  const trace::Trace trace = read(R"({"entries": [
    {"operation": "all", "duration_ms": 2}, {"operation": "some", "duration_ms": 2}],
    "summary": {"all": {"call_count": 1, "total_time_ms": 2},
                "some": {"call_count": 9, "total_time_ms": 20}}})");
  const ProfileFindings found = profile_findings(trace);
  ASSERT_EQ(found.scopes.size(), 2U);
  EXPECT_EQ(found.scopes[0].operation, "some");
  EXPECT_FALSE(found.scopes[0].self_ns);
  EXPECT_EQ(found.scopes[1].self_ns, 2e6);
  EXPECT_FALSE(found.parts) << "no part was measured";
}

}  // namespace fathom::analyze::profile_test
