#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <cstring>
#include <new>

#include "runtime/cpu/blas.h"
#include "runtime/cpu/kernels.h"
#include "runtime/cpu/many_products.h"
#include "runtime/device.h"
#include "runtime/work.h"

namespace fathom::runtime {
namespace {

// As much as is worth a thread of its own.
constexpr std::size_t kElementsPerTask = 1 << 16;
constexpr std::align_val_t kCpuAlignment{256};

template <typename T>
T* at(Place place) {
  return reinterpret_cast<T*>(static_cast<char*>(place.segment) + place.offset);
}

// work(begin, count) over all elements, on all cores where there are enough of them.
template <typename Work>
void over_elements(std::size_t elements, const Work& work) {
  if (elements <= 2 * kElementsPerTask) {
    work(std::size_t{0}, elements);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, elements, kElementsPerTask),
                    [&](const auto& range) { work(range.begin(), range.size()); });
}

class CpuDevice : public Device {
 public:
  CpuDevice() : Device(default_cpu()) {}

  const char* backend() const override { return "cpu"; }
  std::string description() const override { return "the host's processors"; }

  void* allocate(std::size_t bytes) override {
    return ::operator new(bytes, kCpuAlignment, std::nothrow);
  }
  void release(void* segment) noexcept override { ::operator delete(segment, kCpuAlignment); }
  void write(Place to, const void* from, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(at<char>(to), from, bytes);
  }
  void read(void* to, Place from, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(to, at<char>(from), bytes);
  }

  void xor_words(Place out, Place a, Place b, std::size_t words) override {
    over_elements(words, [&](std::size_t begin, std::size_t count) {
      xor_range(at<std::uint32_t>(out) + begin, at<std::uint32_t>(a) + begin,
                at<std::uint32_t>(b) + begin, count);
    });
  }

  void matmul(const MatmulShape& shape, Place c, Place a, Place b) override {
    if (shape.batch == 1) {
      multiply_matrices(shape, at<float>(a), at<float>(b), at<float>(c));
      return;
    }
    const std::size_t step_a = shape.stride_a != 0 ? shape.stride_a : shape.rows * shape.inner;
    const std::size_t step_b = shape.stride_b != 0 ? shape.stride_b : shape.inner * shape.columns;
    const std::size_t step_c = shape.stride_c != 0 ? shape.stride_c : shape.rows * shape.columns;
    multiply_many(shape, shape.batch, [&](std::size_t i) {
      multiply_matrices(shape, at<float>(a) + i * step_a, at<float>(b) + i * step_b,
                        at<float>(c) + i * step_c);
    });
  }

  void elementwise(Operation operation, float alpha, Place out, Place a, Place b,
                   std::size_t elements) override {
    over_elements(elements, [&](std::size_t begin, std::size_t count) {
      const float* const second = operation == Operation::relu ? nullptr : at<float>(b) + begin;
      elementwise_range(operation, alpha, at<float>(out) + begin, at<float>(a) + begin, second,
                        count);
    });
  }

  float reduce(Place a, std::size_t elements) override {
    const float* const values = at<float>(a);
    if (elements <= 2 * kElementsPerTask) return static_cast<float>(sum_range(values, elements));
    // The same pieces however many threads there are: the same sum on every run.
    return static_cast<float>(tbb::parallel_deterministic_reduce(
        tbb::blocked_range<std::size_t>(0, elements, kElementsPerTask), 0.0,
        [&](const auto& range, double sum) {
          return sum + sum_range(values + range.begin(), range.size());
        },
        std::plus<>()));
  }

  void graph_search(const GraphPlaces& graph, std::uint32_t source, Place distances) override {
    breadth_first(at<std::uint32_t>(graph.offsets), at<std::uint32_t>(graph.targets), graph.nodes,
                  source, at<std::uint32_t>(distances));
  }
};

}  // namespace

std::unique_ptr<Device> cpu_device() {
  return std::make_unique<CpuDevice>();
}

}  // namespace fathom::runtime
