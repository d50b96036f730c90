#include "base/md5.h"

#include <gtest/gtest.h>

namespace fathom::base::md5_test {

TEST(Md5, IsThatOfTheStandard) {
  EXPECT_EQ(md5_hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5_hex("a"), "0cc175b9c0f1b6a831c399e269772661");
  EXPECT_EQ(md5_hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(
      md5_hex("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
      "57edf4a22be3c955ac49da2e2107b67a");
}

// Around the ends of blocks, where the length does or does not fit behind the text; the sums are
// those of md5sum.
TEST(Md5, OfTextsAsLongAsABlock) {
  EXPECT_EQ(md5_hex(std::string(55, 'x')), "04364420e25c512fd958a70738aa8f72");
  EXPECT_EQ(md5_hex(std::string(56, 'x')), "668a72d5ba17f08e62dabcafad6db14b");
  EXPECT_EQ(md5_hex(std::string(63, 'x')), "7dc2ca208106a2f703567bdff99d8981");
  EXPECT_EQ(md5_hex(std::string(64, 'x')), "c1bb4f81d892b2d57947682aeb252456");
  EXPECT_EQ(md5_hex(std::string(119, 'x')), "ab347a5f68c8a443cfcddc633f12c24f");
  EXPECT_EQ(md5_hex(std::string(120, 'x')), "fb98667f98096de92620b64f46e1c5b5");
}

}  // namespace fathom::base::md5_test
