#include "fathom/batch.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/error.h"
#include "fathom/profiler.h"
#include "runtime/compute_state.h"
#include "runtime/cpu/blas.h"
#include "runtime/cpu/kernels.h"
#include "runtime/work.h"

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

  // Items that are the same in this run together.
  auto group() const {
    return std::tuple(operation, alpha, shape.rows, shape.inner, shape.columns);
  }
  std::size_t bytes() const { return 4 * (out_elements + a_elements + b_elements); }
};

}  // namespace fathom::runtime

namespace fathom {
namespace {

using runtime::BatchItem;
using Items = std::span<const BatchItem>;

constexpr std::size_t kItemBytesPerTask = 1 << 18;
constexpr double kProductFlopsPerTask = 2e6;

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

double flops_of(const BatchItem& item) {
  return item.operation == Operation::matmul
             ? runtime::flops_of(Operation::matmul, runtime::size_of(item.shape))
             : static_cast<double>(item.a_elements);
}

void run_item_on_host(const BatchItem& item) {
  auto* const out = static_cast<float*>(item.out);
  const auto* const a = static_cast<const float*>(item.a);
  const auto* const b = static_cast<const float*>(item.b);
  if (item.operation == Operation::matmul) {
    runtime::multiply_matrices(item.shape, a, b, out);
  } else if (item.operation == Operation::xor_words) {
    runtime::xor_range(static_cast<std::uint32_t*>(item.out),
                       static_cast<const std::uint32_t*>(item.a),
                       static_cast<const std::uint32_t*>(item.b), item.a_elements);
  } else {
    runtime::elementwise_range(item.operation, item.alpha, out, a, b, item.a_elements);
  }
}

// The host needs no packing: as many items at a time as are worth a task.
void run_on_host(Items items) {
  const bool is_matmul = items[0].operation == Operation::matmul;
  std::size_t bytes = 0;
  for (const BatchItem& item : items) bytes += item.bytes();
  const double flops = flops_of(items[0]) * static_cast<double>(items.size());
  const double tasks =
      is_matmul ? flops / kProductFlopsPerTask : static_cast<double>(bytes) / kItemBytesPerTask;
  if (tasks < 2) {
    for (const BatchItem& item : items) run_item_on_host(item);
    return;
  }
  const auto per_task = static_cast<std::size_t>(static_cast<double>(items.size()) / tasks) + 1;
  std::optional<runtime::OneThreadPerProduct> one_thread;
  if (is_matmul) one_thread.emplace();
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, items.size(), per_task),
                    [&](const auto& range) {
                      for (std::size_t i = range.begin(); i < range.end(); ++i) {
                        run_item_on_host(items[i]);
                      }
                    });
}

// Memory of the host's pool for as long as a call needs it.
class Packed {
 public:
  Packed(MemoryPool& pool, std::size_t elements)
      : pool_(pool), block_(pool.allocate(4 * elements)), elements_(elements) {}
  ~Packed() { pool_.free(block_); }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;

  template <typename T>
  std::span<T> as() const {
    return {block_.as<T>(), elements_};
  }
  void append(const void* data, std::size_t elements) {
    std::copy_n(static_cast<const std::uint32_t*>(data), elements,
                as<std::uint32_t>().data() + at_);
    at_ += elements;
  }

 private:
  MemoryPool& pool_;
  PoolBlock block_;
  std::size_t elements_;
  std::size_t at_ = 0;
};

// One call for all of them, on whatever device the router says.
void run_packed(Compute& compute, Items items) {
  std::size_t out_elements = 0;
  std::size_t a_elements = 0;
  std::size_t b_elements = 0;
  for (const BatchItem& item : items) {
    out_elements += item.out_elements;
    a_elements += item.a_elements;
    b_elements += item.b_elements;
  }
  MemoryPool& pool = compute.pool(kHost);
  const Packed out(pool, out_elements);
  Packed a(pool, a_elements);
  Packed b(pool, b_elements);
  for (const BatchItem& item : items) {
    a.append(item.a, item.a_elements);
    b.append(item.b, item.b_elements);
  }
  switch (items[0].operation) {
    case Operation::xor_words:
      compute.xor_words(out.as<std::uint32_t>(), a.as<std::uint32_t>(), b.as<std::uint32_t>());
      break;
    case Operation::matmul: {
      MatmulShape shape = items[0].shape;
      shape.batch = items.size();
      compute.matmul(shape, out.as<float>(), a.as<float>(), b.as<float>());
      break;
    }
    case Operation::add:
      compute.add(out.as<float>(), a.as<float>(), b.as<float>());
      break;
    case Operation::multiply:
      compute.multiply(out.as<float>(), a.as<float>(), b.as<float>());
      break;
    case Operation::relu:
      compute.relu(out.as<float>(), a.as<float>());
      break;
    default:
      compute.saxpy(items[0].alpha, out.as<float>(), a.as<float>(), b.as<float>());
  }
  const std::uint32_t* from = out.as<std::uint32_t>().data();
  for (const BatchItem& item : items) {
    std::copy_n(from, item.out_elements, static_cast<std::uint32_t*>(item.out));
    from += item.out_elements;
  }
}

double size_of(Items items) {
  if (items[0].operation == Operation::matmul) {
    MatmulShape shape = items[0].shape;
    shape.batch = items.size();
    return runtime::size_of(shape);
  }
  double elements = 0;
  for (const BatchItem& item : items) elements += static_cast<double>(item.a_elements);
  return elements;
}

}  // namespace

struct Batch::State {
  // Returns how many calls the group became.
  std::size_t run_group(Items items);

  Compute& compute;
  BatchOptions options;
  std::vector<BatchItem> items;
};

std::size_t Batch::State::run_group(Items group) {
  const Router& router = compute.router();
  const Route route = router.route(group[0].operation, size_of(group));
  const DeviceModel& device = router.devices()[route.device];
  std::size_t bytes = 0;
  for (const BatchItem& item : group) bytes += item.bytes();
  const auto count = static_cast<double>(group.size());
  const std::size_t most =
      items_per_call(options, bytes / group.size(), route.expected_ns / count, device.memory_bytes);
  std::size_t calls = 0;
  for (std::size_t begin = 0; begin < group.size(); begin += most, ++calls) {
    const Items part = group.subspan(begin, std::min(most, group.size() - begin));
    const auto scope = profiler().profile(
        "batch",
        {.device = route.device == kHost ? "cpu" : "gpu",
         .size = part.size(),
         .attributes = {{"operation", name_of(group[0].operation)}, {"runs_on", device.name}}});
    if (route.device == kHost) {
      run_on_host(part);
    } else {
      run_packed(compute, part);
    }
  }
  return calls;
}

std::size_t items_per_call(const BatchOptions& options, std::size_t bytes_per_item,
                           double ns_per_item, std::optional<std::uint64_t> memory_bytes) {
  double most = 1e9;
  if (ns_per_item > 0) most = std::min(most, options.most_latency_ms * 1e6 / ns_per_item);
  if (memory_bytes && bytes_per_item > 0) {
    most = std::min(most, options.most_memory_share * static_cast<double>(*memory_bytes) /
                              static_cast<double>(bytes_per_item));
  }
  return static_cast<std::size_t>(std::max(most, 1.0));
}

Batch::Batch(Compute& compute, const BatchOptions& options)
    : state_(new State{compute, options, {}}) {}
Batch::~Batch() = default;
Batch::Batch(Batch&& other) noexcept = default;
Batch& Batch::operator=(Batch&& other) noexcept = default;

std::size_t Batch::size() const {
  return state_->items.size();
}

std::size_t Batch::xor_words(std::span<std::uint32_t> out, std::span<const std::uint32_t> a,
                             std::span<const std::uint32_t> b) {
  state_->items.push_back({.operation = Operation::xor_words,
                           .out = out.data(),
                           .a = a.data(),
                           .b = b.data(),
                           .out_elements = out.size(),
                           .a_elements = a.size(),
                           .b_elements = b.size(),
                           .number = state_->items.size()});
  return state_->items.back().number;
}

std::size_t Batch::matmul(const MatmulShape& shape, std::span<float> c, std::span<const float> a,
                          std::span<const float> b) {
  state_->items.push_back({.operation = Operation::matmul,
                           .shape = shape,
                           .out = c.data(),
                           .a = a.data(),
                           .b = b.data(),
                           .out_elements = c.size(),
                           .a_elements = a.size(),
                           .b_elements = b.size(),
                           .number = state_->items.size()});
  return state_->items.back().number;
}

std::size_t Batch::elementwise(Operation operation, std::span<float> out, std::span<const float> a,
                               std::span<const float> b, float alpha) {
  switch (operation) {
    case Operation::add:
    case Operation::multiply:
    case Operation::relu:
    case Operation::saxpy:
      break;
    default:
      throw base::Error(std::string(name_of(operation)), "not an element-wise operation");
  }
  state_->items.push_back({.operation = operation,
                           .alpha = operation == Operation::saxpy ? alpha : 1,
                           .out = out.data(),
                           .a = a.data(),
                           .b = b.data(),
                           .out_elements = out.size(),
                           .a_elements = a.size(),
                           .b_elements = b.size(),
                           .number = state_->items.size()});
  return state_->items.back().number;
}

BatchResult Batch::run() {
  BatchResult result;
  result.items = state_->items.size();
  const std::int64_t begin = now_ns();
  std::vector<BatchItem> items = std::exchange(state_->items, {});
  const auto is_wrong = [&](const BatchItem& item) {
    try {
      expect_whole(item);
      return false;
    } catch (const base::Error& error) {
      result.failures.push_back({item.number, error.what()});
      return true;
    }
  };
  std::erase_if(items, is_wrong);
  std::ranges::stable_sort(items, {}, &BatchItem::group);
  for (auto first = items.begin(); first != items.end();) {
    const auto last = std::find_if(
        first, items.end(), [&](const BatchItem& item) { return item.group() != first->group(); });
    try {
      result.calls += state_->run_group({first, last});
    } catch (const std::exception& error) {  // there was no memory to pack them
      for (auto item = first; item != last; ++item) {
        result.failures.push_back({item->number, error.what()});
      }
    }
    first = last;
  }
  std::ranges::sort(result.failures, {}, &BatchFailure::item);
  result.took_ns = static_cast<double>(now_ns() - begin);
  return result;
}

ParallelResult execute_parallel(std::span<const std::function<void()>> functions) {
  FATHOM_SCOPE("execute_parallel");
  ParallelResult result;
  result.errors.resize(functions.size());
  const std::int64_t begin = now_ns();
  tbb::parallel_for(std::size_t{0}, functions.size(), [&](std::size_t i) {
    try {
      functions[i]();
    } catch (const std::exception& error) {
      result.errors[i] = error.what();
    } catch (...) {
      result.errors[i] = "something that is no std::exception was thrown";
    }
  });
  result.took_ns = static_cast<double>(now_ns() - begin);
  for (const auto& error : result.errors) result.failed += error ? 1 : 0;
  return result;
}

}  // namespace fathom
