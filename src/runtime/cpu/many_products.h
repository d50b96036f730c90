#pragma once

#include <cstddef>
#include <functional>

#include "fathom/operation.h"

namespace fathom::runtime {

// product(0) … product(count - 1), each one product of the shape by OpenBLAS, in the way that was
// faster for as many of this size before: one after the other, each on all cores, or several at a
// time, each on one. Both are tried at first, and the slower one again now and then, for it depends
// on the machine, and on what else runs on it. The products do not throw.
void multiply_many(const MatmulShape& shape, std::size_t count,
                   const std::function<void(std::size_t)>& product);

// Which way it is, from what each took; of one size and number of products. One thread at a time.
class WayOfMany {
 public:
  bool is_parallel() const;                 // the way to take now
  void took(bool was_parallel, double ns);  // per product
 private:
  static constexpr unsigned kFirstLooks = 2;     // of each way: the first of them warms up
  static constexpr unsigned kCallsPerLook = 64;  // at the slower way
  unsigned calls_ = 0;
  double ns_[2] = {};  // one after the other, in parallel: the least, which fades; 0 where unknown
};

}  // namespace fathom::runtime
