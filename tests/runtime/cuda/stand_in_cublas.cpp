// Stands in for libcublas: the same function by its definition, by columns.
#include <cublas_v2.h>

#define STAND_IN extern "C" __attribute__((visibility("default"))) cublasStatus_t CUBLASWINAPI

STAND_IN cublasCreate(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(1);
  return CUBLAS_STATUS_SUCCESS;
}
STAND_IN cublasDestroy(cublasHandle_t) {
  return CUBLAS_STATUS_SUCCESS;
}
STAND_IN cublasSetStream(cublasHandle_t, cudaStream_t) {
  return CUBLAS_STATUS_SUCCESS;
}
STAND_IN cublasSgemmStridedBatched(cublasHandle_t, cublasOperation_t turn_a,
                                   cublasOperation_t turn_b, int m, int n, int k,
                                   const float* alpha, const float* a, int step_a, long long next_a,
                                   const float* b, int step_b, long long next_b, const float* beta,
                                   float* c, int step_c, long long next_c, int batch) {
  const bool fits = step_a >= m && step_b >= k && step_c >= m;
  if (!fits || turn_a != CUBLAS_OP_N || turn_b != CUBLAS_OP_N) return CUBLAS_STATUS_INVALID_VALUE;
  for (int item = 0; item < batch; ++item, a += next_a, b += next_b, c += next_c) {
    for (long long column = 0; column < n; ++column) {
      for (long long row = 0; row < m; ++row) {
        float sum = 0;
        for (long long i = 0; i < k; ++i) sum += a[row + i * step_a] * b[i + column * step_b];
        float& out = c[row + column * step_c];
        out = *alpha * sum + (*beta == 0 ? 0 : *beta * out);
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}
