#include "record/cuda/driver_check.h"

#include <gtest/gtest.h>

namespace fathom::record::cuda::driver_check_test {

TEST(DriverCheck, ADriverThatIsNotThereIsSaidInOneLine) {
  const DriverCheck check = check_cuda_driver("libcuda_that_nobody_has.so.1");
  EXPECT_FALSE(check.found);
  EXPECT_FALSE(check.cuda_version);
  EXPECT_NE(check.line.find("no NVIDIA driver"), std::string::npos) << check.line;
  EXPECT_NE(check.line.find("libcuda_that_nobody_has.so.1"), std::string::npos);
  EXPECT_EQ(check.line.find('\n'), std::string::npos);
}

TEST(DriverCheck, ADriverSaysWhichCudaItRuns) {
  const DriverCheck check = check_cuda_driver(FAKE_DRIVER);
  EXPECT_TRUE(check.found);
  EXPECT_EQ(check.cuda_version, 12040);
  EXPECT_EQ(check.line, "NVIDIA driver for CUDA 12.4");
}

TEST(DriverCheck, ALibraryThatIsNoDriverIsRecognised) {
  const DriverCheck check = check_cuda_driver("libm.so.6");
  EXPECT_FALSE(check.found);
  EXPECT_NE(check.line.find("not a working NVIDIA driver"), std::string::npos) << check.line;
}

}  // namespace fathom::record::cuda::driver_check_test
