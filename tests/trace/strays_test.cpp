#include "trace/strays.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trace/read.h"
#include "trace/trace_lines.h"

namespace fathom::trace::strays_test {

constexpr const char* kNow = "1712195495502094.5";

std::string kernel(const std::string& name, const std::string& time_us, int duration_us = 10) {
  return R"({"ph":"X","cat":"kernel","pid":0,"tid":7,"args":{"stream":7,"device":0},"name":")" +
         name + R"(","ts":)" + time_us + R"(,"dur":)" + std::to_string(duration_us) + "}";
}

Trace read(const std::string& events) {
  const testing::TemporaryFile file("strays.json");
  std::ofstream(file.path()) << R"({"traceEvents":[)" + events + "]}";
  return read_trace(file.path());
}

TEST(Strays, OneKernelAtTimeZeroIsSetAsideAndSaid) {
  const Trace trace = read(kernel("a", kNow) + "," + kernel("never", "0", 0) + "," +
                           kernel("c", "1712195495502200") +
                           R"(,{"ph":"i","s":"t","name":"mark","pid":0,"tid":7,"ts":0})");
  ASSERT_EQ(trace.spans.size(), 2U);
  EXPECT_EQ(trace.name(0), "a");
  EXPECT_EQ(trace.name(1), "c");
  EXPECT_TRUE(trace.instants.empty());
  ASSERT_EQ(trace.warnings.all().size(), 1U);
  EXPECT_EQ(describe(trace.warnings.all()[0]), "2 events at times far from all others, left out");
}

TEST(Strays, AreFoundOnBothSides) {
  const Trace trace = read(kernel("a", kNow) + "," + kernel("b", "0") + "," + kernel("c", kNow) +
                           "," + kernel("d", "4000000000000000"));
  EXPECT_EQ(trace.spans.size(), 2U);
  EXPECT_EQ(trace.warnings.count(WarningKind::stray_time), 2U);
}

TEST(Strays, AreNotWhatIsManyOrNearOrReachesTheOthers) {
  EXPECT_TRUE(read(kernel("a", kNow) + "," + kernel("b", "0")).warnings.empty());
  EXPECT_TRUE(read(kernel("a", kNow) + "," + kernel("b", "0") + "," + kernel("c", kNow) + "," +
                   kernel("d", "0"))
                  .warnings.empty());
  // Fifty minutes apart, and a day of work with a day between.
  EXPECT_TRUE(
      read(kernel("a", "0") + "," + kernel("b", "3000000000") + "," + kernel("c", "3000000001"))
          .warnings.empty());
  EXPECT_TRUE(read(kernel("a", "0") + "," + kernel("b", "86400000000") + "," +
                   kernel("c", "172800000000") + "," + kernel("d", "172900000000"))
                  .warnings.empty());
  const Trace whole =
      read(kernel("a", kNow) + "," + kernel("c", kNow) +
           R"(,{"ph":"X","name":"life","pid":1,"tid":1,"ts":0,"dur":)" + kNow + "}");
  EXPECT_EQ(whole.spans.size(), 3U);
}

// 127 years each: no 64 bits hold the sum of three.
TEST(ImpossibleTimes, AreSetAsideWhereTheirSumIsNoNumber) {
  const auto span = [](const std::string& name, const std::string& dur) {
    return R"({"ph":"X","pid":1,"tid":1,"ts":1,"name":")" + name + R"(","dur":)" + dur + "}";
  };
  const std::string endless = span("endless", "4000000000000000");
  const Trace trace = read(endless + "," + endless + "," + endless + "," + span("a", "5"));
  ASSERT_EQ(trace.spans.size(), 1U);
  EXPECT_EQ(trace.name(0), "a");
  EXPECT_EQ(trace.warnings.count(WarningKind::bad_number), 3U);
}

}  // namespace fathom::trace::strays_test
