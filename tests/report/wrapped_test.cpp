#include "report/text/wrapped.h"

#include <gtest/gtest.h>

namespace fathom::report::wrapped_test {

TEST(Wrapped, GoesOnBelowItsBeginning) {
  EXPECT_EQ(wrapped("one two three", "  · ", 12), "  · one two\n    three\n");
}

TEST(Wrapped, AFigureKeepsItsUnit) {
  EXPECT_EQ(wrapped("it comes within 0.4 % of it", "", 19), "it comes within\n0.4 % of it\n");
  EXPECT_EQ(wrapped("less (342.7 ms), if so", "", 12), "less\n(342.7 ms),\nif so\n");
  EXPECT_EQ(wrapped("3 steps", "", 4), "3\nsteps\n");
}

}  // namespace fathom::report::wrapped_test
