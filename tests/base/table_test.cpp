#include "base/table.h"

#include <gtest/gtest.h>

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

}  // namespace fathom::base::table_test
