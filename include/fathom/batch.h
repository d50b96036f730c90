#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fathom/compute.h"
#include "fathom/export.h"
#include "fathom/operation.h"

// Many small operations as few calls: link fathom::runtime.
//
//   fathom::Batch batch(compute);
//   for (Item& item : items) batch.xor_words(item.out, item.a, item.b);
//   const fathom::BatchResult result = batch.run();
namespace fathom {

struct BatchOptions {
  // A call takes about this long at most, so that results come while others are computed.
  double most_latency_ms = 100;
  // And at most this share of a device's memory.
  double most_memory_share = 0.25;
};

struct BatchFailure {
  std::size_t item = 0;  // as the functions that add gave it
  std::string what;      // one line
};

struct BatchResult {
  std::size_t items = 0;
  std::size_t calls = 0;               // that they became
  std::vector<BatchFailure> failures;  // all other items are done
  double took_ns = 0;
  double items_per_call() const {
    return calls == 0 ? 0 : static_cast<double>(items) / static_cast<double>(calls);
  }
};

// Collects operations and runs those of one kind together: XOR and element-wise ones of any
// length one after the other, matrix products by shape. Nothing is padded. An item that is wrong
// fails alone. Data must stay where they are until run() returns; items may be done in any order,
// so none may use the result of another. One thread at a time.
class FATHOM_API Batch {
 public:
  explicit Batch(Compute& compute, const BatchOptions& options = {});
  ~Batch();
  Batch(Batch&& other) noexcept;
  Batch& operator=(Batch&& other) noexcept;

  // Each gives the number of the item, from 0.
  std::size_t xor_words(std::span<std::uint32_t> out, std::span<const std::uint32_t> a,
                        std::span<const std::uint32_t> b);
  std::size_t matmul(const MatmulShape& shape, std::span<float> c, std::span<const float> a,
                     std::span<const float> b);  // without a batch of its own
  // add, multiply, relu (b is empty) or saxpy.
  std::size_t elementwise(Operation operation, std::span<float> out, std::span<const float> a,
                          std::span<const float> b, float alpha = 1);

  std::size_t size() const;
  BatchResult run();  // the batch is empty afterwards

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// How many items of one kind one call should take: as many as the options' share of memory and
// latency allow, and at least one.
FATHOM_API std::size_t items_per_call(const BatchOptions& options, std::size_t bytes_per_item,
                                      double ns_per_item,
                                      std::optional<std::uint64_t> memory_bytes);

struct ParallelResult {
  std::vector<std::optional<std::string>> errors;  // one per function; nothing: it returned
  std::size_t failed = 0;
  double took_ns = 0;
};

// Calls all functions, on all cores; what one throws does not stop the others.
FATHOM_API ParallelResult execute_parallel(std::span<const std::function<void()>> functions);

}  // namespace fathom
