#include "base/printable.h"

#include <gtest/gtest.h>

#include "base/json_writer.h"
#include "base/table.h"

namespace fathom::base::printable_test {

TEST(Printable, NothingActsOnATerminal) {
  EXPECT_EQ(printable("\x1b]0;title\x07"), "�]0;title�");
  EXPECT_EQ(printable("a\rb\x7f"
                      "c"),
            "a�b�c");
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J"),
            "�2J");  // C1: CSI in one character
  EXPECT_EQ(printable("\u202Eevil\u2066\u200F\u061C\u2028"), "�evil����");
  EXPECT_EQ(printable("two\nlines\tand a tab"), "two lines and a tab");
}

TEST(Printable, BytesThatAreNotUtf8AreReplacedOneByOne) {
  EXPECT_EQ(printable("a\x9b"
                      "b\xFF\xC3"),
            "a�b��");
  EXPECT_EQ(printable("\xED\xA0\x80"), "���");  // a surrogate
}

TEST(Printable, TextStaysAsItIs) {
  for (const char* text :
       {"", "kernel<float>(…)", "µs ü 漢字 👩‍💻", "void at::native::(λ)"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, JsonOnATerminalSaysTheSameInEscapes) {
  std::string json;
  append_json_string(json, "\u202E\u009B\x1b\x7fü");
  EXPECT_EQ(json, R"("\u202e\u009b\u001b\u007fü")");
}

TEST(Printable, NoCellOfATableBreaksItsLine) {
  Table table({"kernel", "device"});
  table.row({"a\nb", "c\r\nd"});
  EXPECT_EQ(table.text(80), "  kernel  device\n  a b       c� d\n");
}

}  // namespace fathom::base::printable_test
