#include "base/terminal.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace fathom::base::terminal_test {

TEST(Terminal, WidthOfWhatIsNoneIsWhatColumnsSaysWhereThatIsSensible) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  unsetenv("COLUMNS");
  EXPECT_EQ(terminal_width(file), 100U);
  for (const auto& [columns, width] : {std::pair{"60", 60U},
                                       {"140", 140U},
                                       {"400", 400U},
                                       {"59", 100U},
                                       {"401", 100U},
                                       {"0", 100U},
                                       {"-80", 100U},
                                       {"80x", 100U},
                                       {"wide", 100U},
                                       {"", 100U}}) {
    setenv("COLUMNS", columns, 1);
    EXPECT_EQ(terminal_width(file), width) << columns;
  }
  unsetenv("COLUMNS");
  std::fclose(file);
}

}  // namespace fathom::base::terminal_test
