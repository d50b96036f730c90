#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "fathom/batch.h"

namespace fathom::runtime {

// One operation that waits. Words and floats are both of 4 bytes; which they are, the operation
// says.
struct BatchItem {
  Operation operation = Operation::xor_words;
  MatmulShape shape = {};  // of a matmul
  float alpha = 1;
  void* out = nullptr;
  const void* a = nullptr;
  const void* b = nullptr;
  std::size_t out_elements = 0;
  std::size_t a_elements = 0;
  std::size_t b_elements = 0;
  std::size_t number = 0;

  // Items that are the same in this run together. A factor is compared by its bits: NaN is not
  // equal to itself.
  auto group() const {
    return std::tuple(operation, std::bit_cast<std::uint32_t>(alpha), shape.rows, shape.inner,
                      shape.columns);
  }
  std::size_t bytes() const { return 4 * (out_elements + a_elements + b_elements); }
};

using BatchItems = std::span<const BatchItem>;

// Throws base::Error where the arguments of an item do not fit together.
void expect_whole(const BatchItem& item);

// Of items of one group, where they are: as many at a time as are worth a task. What fails, fails
// alone.
void run_on_host(BatchItems items, std::vector<BatchFailure>& failures);
// Whether items are so large that all of them take as long as one call of their size does. Of small
// ones the time goes into beginning each.
bool is_work_of_calls(BatchItems items);
// The same as one call, on whatever device the router says: packed together, and taken apart again.
void run_packed(Compute& compute, BatchItems items);

// As the router counts it, of all of them.
double size_of(BatchItems items);

}  // namespace fathom::runtime
