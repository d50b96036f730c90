#include "runtime/batch/batch_item.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "runtime/cpu/blas.h"
#include "runtime/cpu/kernels.h"
#include "runtime/cpu/many_products.h"
#include "runtime/memory/pool_blocks.h"
#include "runtime/work.h"

namespace fathom::runtime {
namespace {

constexpr std::size_t kItemBytesPerTask = 1 << 18;

void run_item_on_host(const BatchItem& item) {
  auto* const out = static_cast<float*>(item.out);
  const auto* const a = static_cast<const float*>(item.a);
  const auto* const b = static_cast<const float*>(item.b);
  if (item.operation == Operation::matmul) {
    multiply_matrices(item.shape, a, b, out);
  } else if (item.operation == Operation::xor_words) {
    xor_range(static_cast<std::uint32_t*>(item.out), static_cast<const std::uint32_t*>(item.a),
              static_cast<const std::uint32_t*>(item.b), item.a_elements);
  } else {
    elementwise_range(item.operation, item.alpha, out, a, b, item.a_elements);
  }
}

// Memory of the host's pool that is filled one item after the other. Words and floats alike.
class Packed {
 public:
  Packed(PoolBlocks& blocks, std::size_t elements)
      : words_(blocks.add_array<std::uint32_t>(elements)) {}

  void append(const void* data, std::size_t elements) {
    std::copy_n(static_cast<const std::uint32_t*>(data), elements, words_.data() + at_);
    at_ += elements;
  }
  std::span<std::uint32_t> words() const { return words_; }
  std::span<float> floats() const {
    return {reinterpret_cast<float*>(words_.data()), words_.size()};
  }

 private:
  std::span<std::uint32_t> words_;
  std::size_t at_ = 0;
};

}  // namespace

void expect_whole(const BatchItem& item) {
  const auto expect = [&](const char* what, std::size_t has, std::size_t needs) {
    if (has == needs) return;
    throw base::Error(std::string(name_of(item.operation)),
                      fmt::format("{} has {} elements, not {}", what, has, needs));
  };
  if (item.operation == Operation::matmul) {
    const MatmulShape& shape = item.shape;
    if (shape.batch != 1) throw base::Error("matmul", "an item of a batch is one product");
    constexpr std::size_t kMostEdge = std::size_t{1} << 24;
    if (std::max({shape.rows, shape.inner, shape.columns}) > kMostEdge) {
      throw base::Error("matmul", "the sizes are too large");
    }
    expect("a", item.a_elements, shape.rows * shape.inner);
    expect("b", item.b_elements, shape.inner * shape.columns);
    expect("c", item.out_elements, shape.rows * shape.columns);
    return;
  }
  expect("the result", item.out_elements, item.a_elements);
  if (item.operation == Operation::relu) return expect("b", item.b_elements, 0);
  expect("b", item.b_elements, item.a_elements);
}

// The host needs no packing: as many items at a time as are worth a task.
void run_on_host(BatchItems items, std::vector<BatchFailure>& failures) {
  std::mutex mutex;
  const auto run = [&](std::size_t i) {
    try {
      run_item_on_host(items[i]);
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex);
      failures.push_back({items[i].number, error.what()});
    }
  };
  if (items[0].operation == Operation::matmul) {
    return multiply_many(items[0].shape, items.size(), run);
  }
  std::size_t bytes = 0;
  for (const BatchItem& item : items) bytes += item.bytes();
  if (bytes < 2 * kItemBytesPerTask) {
    for (std::size_t i = 0; i < items.size(); ++i) run(i);
    return;
  }
  const std::size_t per_task = items.size() * kItemBytesPerTask / bytes + 1;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, items.size(), per_task),
                    [&](const auto& range) {
                      for (std::size_t i = range.begin(); i < range.end(); ++i) run(i);
                    });
}

// One call for all of them, on whatever device the router says.
void run_packed(Compute& compute, BatchItems items) {
  std::size_t out_elements = 0;
  std::size_t a_elements = 0;
  std::size_t b_elements = 0;
  for (const BatchItem& item : items) {
    out_elements += item.out_elements;
    a_elements += item.a_elements;
    b_elements += item.b_elements;
  }
  PoolBlocks blocks(compute.pool(kHost));
  const Packed out(blocks, out_elements);
  Packed a(blocks, a_elements);
  Packed b(blocks, b_elements);

  for (const BatchItem& item : items) {
    a.append(item.a, item.a_elements);
    b.append(item.b, item.b_elements);
  }
  switch (items[0].operation) {
    case Operation::xor_words:
      compute.xor_words(out.words(), a.words(), b.words());
      break;
    case Operation::matmul: {
      MatmulShape shape = items[0].shape;
      shape.batch = items.size();
      compute.matmul(shape, out.floats(), a.floats(), b.floats());
      break;
    }
    case Operation::add:
      compute.add(out.floats(), a.floats(), b.floats());
      break;
    case Operation::multiply:
      compute.multiply(out.floats(), a.floats(), b.floats());
      break;
    case Operation::relu:
      compute.relu(out.floats(), a.floats());
      break;
    default:
      compute.saxpy(items[0].alpha, out.floats(), a.floats(), b.floats());
  }
  const std::uint32_t* from = out.words().data();
  for (const BatchItem& item : items) {
    std::copy_n(from, item.out_elements, static_cast<std::uint32_t*>(item.out));
    from += item.out_elements;
  }
}

bool is_work_of_calls(BatchItems items) {
  if (items[0].operation == Operation::matmul) {
    return flops_of(Operation::matmul, size_of(items[0].shape)) >= kFlopsPerTask;
  }
  std::size_t bytes = 0;
  for (const BatchItem& item : items) bytes += item.bytes();
  return bytes / items.size() >= kItemBytesPerTask / 4;
}

double size_of(BatchItems items) {
  if (items[0].operation == Operation::matmul) {
    MatmulShape shape = items[0].shape;
    shape.batch = items.size();
    return size_of(shape);
  }
  double elements = 0;
  for (const BatchItem& item : items) elements += static_cast<double>(item.a_elements);
  return elements;
}

}  // namespace fathom::runtime
