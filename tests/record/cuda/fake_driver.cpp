// What check_cuda_driver needs of libcuda.so.1. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(int* version) {
  *version = 12040;
  return 0;
}
