#pragma once

#include "fathom/operation.h"

namespace fathom::runtime {

// As much of many products as is worth a thread of its own.
inline constexpr double kFlopsPerTask = 2e6;

// One product by OpenBLAS, on as many threads as it likes.
void multiply_matrices(const MatmulShape& shape, const float* a, const float* b, float* c);

// While one of these is alive OpenBLAS uses one thread per call, because the calls themselves run
// on all cores.
class OneThreadPerProduct {
 public:
  OneThreadPerProduct();
  ~OneThreadPerProduct();
  OneThreadPerProduct(const OneThreadPerProduct&) = delete;
  OneThreadPerProduct& operator=(const OneThreadPerProduct&) = delete;
};

}  // namespace fathom::runtime
