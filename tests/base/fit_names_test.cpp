#include "base/fit_names.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/format.h"

namespace fathom::base::fit_names_test {

TEST(FitNames, NeverShowsDifferentNamesAlikeNorTooLong) {
  std::mt19937 random(5);
  const std::vector<std::string> pieces = {"gemm", "µ",   "<float, ", "128",  "64",
                                           ">",    " · ", "_nn",      "void "};
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> names;
    for (int i = 0; i < 12; ++i) {
      std::string name = "at::native::vectorized_elementwise_kernel<";
      for (std::size_t j = random() % 9; j > 0; --j) name += pieces[random() % pieces.size()];
      names.push_back(name);
    }
    const std::size_t columns = 12 + random() % 50;
    const std::vector<std::string> shown = fit_names(names, columns);
    std::map<std::string, std::string> name_of;
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_LE(display_width(shown[i]), columns) << shown[i];
      const auto [known, is_new] = name_of.emplace(shown[i], names[i]);
      EXPECT_EQ(known->second, names[i]) << shown[i] << " at " << columns;
    }
  }
}

}  // namespace fathom::base::fit_names_test
