#include "base/string_pool.h"

#include <gtest/gtest.h>

#include <string>

namespace fathom::base::string_pool_test {

TEST(StringPool, SameTextSameId) {
  StringPool pool;
  const StringId a = pool.intern("aten::mm");
  EXPECT_NE(pool.intern("aten::mul"), a);
  EXPECT_EQ(pool.intern("aten::mm"), a);
  EXPECT_EQ(pool.view(a), "aten::mm");
}

TEST(StringPool, EmptyStringIsIdZero) {
  StringPool pool;
  EXPECT_EQ(pool.intern(""), 0U);
  EXPECT_EQ(pool.view(0), "");
}

TEST(StringPool, KeepsBytesThatAreNoText) {
  StringPool pool;
  const std::string odd("\0\xFF\n", 3);
  EXPECT_EQ(pool.view(pool.intern(odd)), odd);
}

TEST(StringPool, ViewsSurviveGrowthAndLongStrings) {
  StringPool pool;
  const std::string_view early = pool.view(pool.intern("early"));
  const std::string huge(1'000'000, 'x');
  EXPECT_EQ(pool.view(pool.intern(huge)), huge);
  for (int i = 0; i < 100'000; ++i) pool.intern(std::to_string(i));
  EXPECT_EQ(pool.size(), 100'003U);
  EXPECT_EQ(early, "early");
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_EQ(pool.view(static_cast<StringId>(i + 3)), std::to_string(i));
  }
}

}  // namespace fathom::base::string_pool_test
