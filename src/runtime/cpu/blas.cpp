#include "runtime/cpu/blas.h"

#include <cblas.h>

#include <algorithm>
#include <mutex>

namespace fathom::runtime {
namespace {

std::mutex blas_mutex;
int one_thread_users = 0;
int threads_before = 0;

}  // namespace

void multiply_matrices(const MatmulShape& shape, const float* a, const float* b, float* c) {
  const auto rows = static_cast<blasint>(shape.rows);
  const auto inner = static_cast<blasint>(shape.inner);
  const auto columns = static_cast<blasint>(shape.columns);
  if (shape.inner == 0) {  // an empty sum; cblas takes no rows of length 0
    std::fill_n(c, shape.rows * shape.columns, 0.0f);
    return;
  }
  if (rows == 0 || columns == 0) return;
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1.0f, a, inner, b,
              columns, 0.0f, c, columns);
}

OneThreadPerProduct::OneThreadPerProduct() {
  const std::lock_guard lock(blas_mutex);
  if (one_thread_users++ != 0) return;
  threads_before = openblas_get_num_threads();
  openblas_set_num_threads(1);
}

OneThreadPerProduct::~OneThreadPerProduct() {
  const std::lock_guard lock(blas_mutex);
  if (--one_thread_users == 0) openblas_set_num_threads(threads_before);
}

}  // namespace fathom::runtime
