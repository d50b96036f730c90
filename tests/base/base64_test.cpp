#include "base/base64.h"

#include <gtest/gtest.h>

namespace fathom::base::base64_test {

// The examples of RFC 4648.
TEST(Base64, PadsToFours) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, TakesEveryByte) {
  EXPECT_EQ(base64(std::string_view("\x00\xff\xfe", 3)), "AP/+");
}

}  // namespace fathom::base::base64_test
