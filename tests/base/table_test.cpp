#include "base/table.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

namespace fathom::base::table_test {

TEST(Table, AlignsNamesLeftAndFiguresRight) {
  Table table({"kernel", "calls", "total"});
  table.row({"sgemm", "1,212", "96.1 ms"});
  table.row({"fill µ", "7", "3 µs"});
  EXPECT_EQ(table.text(80),
            "  kernel  calls    total\n"
            "  sgemm   1,212  96.1 ms\n"
            "  fill µ      7     3 µs\n");
}

TEST(Table, CutsLongNamesToTheWidth) {
  Table table({"name", "n"});
  table.row({"a name of many characters", "1"});
  EXPECT_EQ(table.text(20),
            "  name             n\n"
            "  a name of many…  1\n");
}

TEST(Table, NamesThatDifferNeverLookTheSame) {
  Table table({"name", "n"});
  table.row({"void at::native::elementwise_kernel<128, 2, add>(int, add)", "1"});
  table.row({"void at::native::elementwise_kernel<128, 2, mul>(int, mul)", "2"});
  table.row({"void at::native::elementwise_kernel<128, 2, mul>(int, mul)", "3"});
  EXPECT_EQ(table.text(40),
            "  name                                 n\n"
            "  void at::na…<128, 2, add>(int, add)  1\n"
            "  void at::na…<128, 2, mul>(int, mul)  2\n"
            "  void at::na…<128, 2, mul>(int, mul)  3\n");
}

TEST(Table, AFewColumnsStillTellNamesApart) {
  Table table({"name", "n"});
  for (int i = 0; i < 30; ++i) table.row({"kernel" + std::string(i, 'x') + "µ", "1"});
  const std::string text = table.text(1);
  std::set<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  EXPECT_EQ(lines.size(), 31U) << text;
}

}  // namespace fathom::base::table_test
