#include "base/search_near.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace fathom::base::search_near_test {

TEST(SearchNear, FindsWhatBisectionFindsFromWherever) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> values(random() % 40);
    for (int& value : values) value = static_cast<int>(random() % 50);
    std::sort(values.begin(), values.end());
    const int wanted = static_cast<int>(random() % 52) - 1;
    const auto before = [&](int value) { return value < wanted; };
    const auto expected = std::partition_point(values.begin(), values.end(), before);
    for (auto near = values.begin();; ++near) {
      ASSERT_EQ(partition_point_near(values.begin(), values.end(), near, before), expected);
      if (near == values.end()) break;
    }
  }
}

TEST(SearchNear, LooksAtFewWhereItIsNear) {
  std::vector<int> values(1 << 20);
  for (int i = 0; i < 1 << 20; ++i) values[static_cast<std::size_t>(i)] = i;
  for (const int off : {-3, 0, 3}) {
    int looks = 0;
    const auto found = partition_point_near(values.begin(), values.end(),
                                            values.begin() + 500'000 + off, [&](int value) {
                                              ++looks;
                                              return value < 500'000;
                                            });
    EXPECT_EQ(*found, 500'000);
    EXPECT_LE(looks, 6);
  }
}

}  // namespace fathom::base::search_near_test
