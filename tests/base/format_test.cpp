#include "base/format.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "fathom/figures.h"

namespace fathom::base::format_test {

TEST(Format, DurationsPickTheirUnit) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(28.93), "28.9 ns");
  EXPECT_EQ(format_duration(147'400), "147.4 µs");
  EXPECT_EQ(format_duration(238'300'000), "238.3 ms");
  EXPECT_EQ(format_duration(999'990'000), "1.00 s");
  EXPECT_EQ(format_duration(1'400'000'000), "1.40 s");
}

TEST(Format, CountsHaveThousandsSeparators) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1'048'576), "1,048,576");
  EXPECT_EQ(format_plural(1, "event", "events"), "1 event");
  EXPECT_EQ(format_plural(3112, "event", "events"), "3,112 events");
}

TEST(Format, LargePercentagesHaveThousandsSeparators) {
  EXPECT_EQ(format_percent(12.34), "12.3 %");
  EXPECT_EQ(format_percent(999.9), "999.9 %");
  EXPECT_EQ(format_percent(1234.56), "1,234.6 %");
  EXPECT_EQ(format_percent(-1234567.0), "-1,234,567.0 %");
  EXPECT_EQ(format_decimal(12345, 0), "12,345");
}

TEST(Format, BytesAreInPowersOf1024AsMbIsInFiles) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(kBytesPerMb), "1 MB");
  EXPECT_EQ(format_bytes(1.5 * kBytesPerMb), "1.5 MB");
  EXPECT_EQ(format_bytes(16 * 1024 * kBytesPerMb), "16 GB");
}

// The page has its own formatter: web/tests/format.test.mjs holds it to the same table.
TEST(Format, FiguresAreAsTheTableHasThem) {
  std::ifstream file(FATHOM_SOURCE_DIR "/tests/base/figures.json");
  const nlohmann::json table = nlohmann::json::parse(file);
  const auto check = [&](const char* kind, auto format) {
    ASSERT_GT(table[kind].size(), 3U);
    for (const auto& row : table[kind]) {
      EXPECT_EQ(format(row[0].get<double>()), row[1].get<std::string>()) << kind << " " << row[0];
    }
  };
  check("durations", [](double ns) { return format_duration(ns); });
  check("bytes", [](double bytes) { return format_bytes(bytes); });
  check("counts", [](double count) { return format_count(static_cast<std::uint64_t>(count)); });
  check("percents", [](double percent) { return format_percent(percent); });
}

TEST(Format, LongTextIsCutToTheColumns) {
  EXPECT_EQ(fit("kernel", 6), "kernel");
  EXPECT_EQ(fit("kernels", 6), "kerne…");
  EXPECT_EQ(fit("µµµ", 2), "µ…");
  EXPECT_EQ(display_width("µ…x"), 3U);
}

TEST(Format, ControlCharactersCannotReachTheTerminal) {
  EXPECT_EQ(fit("a\x1b[2Jb\n", 20), "a�[2Jb ");
}

TEST(Format, OfAQualifiedNameTheNameIsCutFirst) {
  EXPECT_EQ(fit_qualified("gemm · grid 8x1x1", 40), "gemm · grid 8x1x1");
  EXPECT_EQ(fit_qualified("a_kernel_of_a_long_name · grid 8x1x1", 30),
            "a_kernel_of_a_lo… · grid 8x1x1");
  EXPECT_EQ(fit_qualified("a_kernel_of_a_long_name · grid 8x1x1", 20), "a_kernel_of… · grid…");
  EXPECT_EQ(fit_qualified("a_kernel_of_a_long_name", 10), "a_kernel_…");
}

}  // namespace fathom::base::format_test
