#include "base/shell_word.h"

#include <gtest/gtest.h>

namespace fathom::base::shell_word_test {

TEST(ShellWord, QuotesOnlyWhatAShellWouldChange) {
  EXPECT_EQ(shell_word("traces/run-1.json.gz"), "traces/run-1.json.gz");
  EXPECT_EQ(shell_word("my trace.json"), "'my trace.json'");
  EXPECT_EQ(shell_word("a$(b).json"), "'a$(b).json'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("it's\na\x1b\\"), R"($'it\'s\x0aa\x1b\\')");
}

}  // namespace fathom::base::shell_word_test
