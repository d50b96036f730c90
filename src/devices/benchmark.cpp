#include "devices/benchmark.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "base/median.h"
#include "devices/benchmark_kernels.h"
#include "devices/opencl_session.h"

namespace fathom::devices {
namespace {

using BenchmarkClock = std::chrono::steady_clock;

constexpr double kSampleSeconds = 0.02;  // at least, so that the clock is fine enough
constexpr double kLongRunSeconds = 0.2;  // one that takes so long is repeated less often
constexpr int kSamples = 7;
constexpr int kSamplesOfLong = 3;
constexpr std::size_t kMib = 1 << 20;
constexpr std::size_t kCopyBytes = 64 * kMib;

// Seconds that one of many takes: `work` does so many and waits for them.
template <typename Work>
std::vector<double> seconds_each(const Work& work) {
  const auto seconds = [&](unsigned times) {
    const BenchmarkClock::time_point begin = BenchmarkClock::now();
    work(times);
    return std::chrono::duration<double>(BenchmarkClock::now() - begin).count();
  };
  seconds(1);  // the first one sets things up
  const double one = std::max(seconds(1), 1e-7);
  const auto times = static_cast<unsigned>(std::clamp(std::ceil(kSampleSeconds / one), 1.0, 1e5));
  std::vector<double> each;
  for (int i = 0; i < (one > kLongRunSeconds ? kSamplesOfLong : kSamples); ++i) {
    each.push_back(seconds(times) / times);
  }
  return each;
}

Measured measured(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return {.median = base::median(values), .least = least, .most = most};
}

Measured rate(std::vector<double> seconds, double amount) {
  for (double& each : seconds) each = amount / each;
  return measured(seconds);
}

class DeviceBenchmark {
 public:
  DeviceBenchmark(const std::shared_ptr<const opencl::Library>& library, cl_device_id device)
      : session_(library, device, kBenchmarkSource) {
    const auto number = [&](cl_device_info what) {
      return opencl::number_of(*library, device, what, cl_ulong{0});
    };
    const cl_ulong all = number(CL_DEVICE_GLOBAL_MEM_SIZE);
    const cl_ulong most = number(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    const bool is_cpu = (number(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
    // Larger than caches, and little of the whole.
    const cl_ulong wanted =
        std::clamp<cl_ulong>(std::bit_floor(all / 64), 16 * kMib, is_cpu ? 64 * kMib : 256 * kMib);
    array_bytes_ = static_cast<std::size_t>(most == 0 ? wanted : std::min(wanted, most));
    array_bytes_ -= array_bytes_ % 16;
    group_size_ =
        opencl::number_of(*library, device, CL_DEVICE_MAX_WORK_GROUP_SIZE, std::size_t{0});
  }

  void measure_copies(Benchmark& into);
  void measure_launches(Benchmark& into);
  void measure_memory(Benchmark& into);
  void measure_vector(Benchmark& into);
  void measure_matmul(Benchmark& into);

 private:
  Measured flops_of(const opencl::Kernel& kernel, std::size_t items, double flop_per_item) const;

  opencl::Session session_;
  std::size_t array_bytes_ = 0;
  std::size_t group_size_ = 0;
};

void note(Benchmark& into, bool is_right) {
  into.results_are_right = into.results_are_right.value_or(true) && is_right;
}

void DeviceBenchmark::measure_copies(Benchmark& into) {
  const std::size_t bytes = std::min(kCopyBytes, array_bytes_);
  const opencl::Buffer there = session_.buffer(bytes);
  const opencl::Buffer here = session_.buffer(2 * bytes, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR);
  void* const mapped = session_.map(here, 2 * bytes);
  auto* const from = static_cast<unsigned char*>(mapped);
  unsigned char* const back = from + bytes;
  for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<unsigned char>(i * 7 + (i >> 8));
  std::memset(back, 0, bytes);
  into.to_device_bytes_per_second = rate(seconds_each([&](unsigned times) {
                                           for (unsigned i = 0; i < times; ++i) {
                                             session_.write(there, from, bytes);
                                           }
                                           session_.finish();
                                         }),
                                         static_cast<double>(bytes));
  into.from_device_bytes_per_second = rate(seconds_each([&](unsigned times) {
                                             for (unsigned i = 0; i < times; ++i) {
                                               session_.read(there, back, bytes);
                                             }
                                             session_.finish();
                                           }),
                                           static_cast<double>(bytes));
  note(into, std::memcmp(from, back, bytes) == 0);
  session_.unmap(here, mapped);
  session_.finish();
}

void DeviceBenchmark::measure_launches(Benchmark& into) {
  const opencl::Kernel nothing = session_.kernel("nothing");
  session_.set(nothing, 0, cl_int{0});
  into.launch_seconds = measured(seconds_each([&](unsigned times) {
    for (unsigned i = 0; i < times; ++i) {
      session_.enqueue(nothing, 1);
      session_.finish();
    }
  }));
}

void DeviceBenchmark::measure_memory(Benchmark& into) {
  const std::size_t floats = array_bytes_ / sizeof(float);
  std::vector<float> values(floats);
  const opencl::Buffer a = session_.buffer(array_bytes_);
  const opencl::Buffer b = session_.buffer(array_bytes_);
  const opencl::Buffer c = session_.buffer(array_bytes_);
  // Whole numbers, small enough for sums to be exact.
  for (std::size_t i = 0; i < floats; ++i) values[i] = static_cast<float>(i % 1000);
  session_.write(a, values.data(), array_bytes_);
  session_.write(b, values.data(), array_bytes_);
  const opencl::Kernel triad = session_.kernel("triad");
  session_.set(triad, 0, a);
  session_.set(triad, 1, b);
  session_.set(triad, 2, c);
  session_.set(triad, 3, 3.0F);
  session_.finish();
  into.memory_bytes_per_second = rate(seconds_each([&](unsigned times) {
                                        for (unsigned i = 0; i < times; ++i) {
                                          session_.enqueue(triad, floats / 4);
                                        }
                                        session_.finish();
                                      }),
                                      3 * static_cast<double>(array_bytes_));
  session_.read(c, values.data(), array_bytes_);
  session_.finish();
  bool is_right = true;
  for (std::size_t i = 0; i < floats; ++i) {
    is_right = is_right && values[i] == 4 * static_cast<float>(i % 1000);
  }
  note(into, is_right);
}

Measured DeviceBenchmark::flops_of(const opencl::Kernel& kernel, std::size_t items,
                                   double flop_per_item) const {
  return rate(seconds_each([&](unsigned times) {
                for (unsigned i = 0; i < times; ++i) session_.enqueue(kernel, items);
                session_.finish();
              }),
              flop_per_item * static_cast<double>(items));
}

void DeviceBenchmark::measure_vector(Benchmark& into) {
  constexpr std::size_t kItems = 1 << 20;
  const opencl::Buffer out = session_.buffer(kItems * sizeof(float));
  const opencl::Kernel chain = session_.kernel("chain");
  session_.set(chain, 0, out);
  session_.set(chain, 1, 0.999F);
  session_.set(chain, 2, 0.001F);
  into.vector_flops = flops_of(chain, kItems, 2.0 * kChainLength * kChainValues);
}

// By a weighted sum of each row of the product, which the inputs alone give, too: c w = a (b w).
// All are whole numbers that a float holds exactly; the weights tell columns apart that were
// swapped.
bool product_is_right(const std::vector<float>& a, const std::vector<float>& b,
                      const std::vector<float>& c, std::size_t n) {
  const auto sums_of_rows = [&](const std::vector<float>& matrix,
                                const std::vector<std::int64_t>& factors) {
    std::vector<std::int64_t> sums(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        // NaN and numbers beyond all sense are no sum.
        const float value = matrix[i * n + k];
        if (!(std::fabs(value) < 1e9F)) return std::vector<std::int64_t>{};
        sums[i] += static_cast<std::int64_t>(value) * factors[k];
      }
    }
    return sums;
  };
  std::vector<std::int64_t> weights(n);
  for (std::size_t k = 0; k < n; ++k) weights[k] = 1 + static_cast<std::int64_t>(k * k % 97);
  const std::vector<std::int64_t> sums = sums_of_rows(c, weights);
  return !sums.empty() && sums == sums_of_rows(a, sums_of_rows(b, weights));
}

void DeviceBenchmark::measure_matmul(Benchmark& into) {
  if (group_size_ < std::size_t{kMatmulGroup * kMatmulGroup}) return;
  constexpr std::size_t kLeast = 512;
  constexpr std::size_t kMost = 4096;
  constexpr double kLongEnough = 0.005;
  const opencl::Kernel matmul = session_.kernel("matmul");
  for (std::size_t n = kLeast;; n *= 2) {
    std::vector<float> a(n * n);
    std::vector<float> b(n * n);
    for (std::size_t i = 0; i < n * n; ++i) {
      a[i] = static_cast<float>((i * 7 + i / n) % 4);
      b[i] = static_cast<float>((i * 5 + i / n) % 3);
    }
    const std::size_t bytes = n * n * sizeof(float);
    const std::array<opencl::Buffer, 3> buffers = {session_.buffer(bytes), session_.buffer(bytes),
                                                   session_.buffer(bytes)};
    session_.write(buffers[0], a.data(), bytes);
    session_.write(buffers[1], b.data(), bytes);
    session_.set(matmul, 0, static_cast<cl_int>(n));
    for (cl_uint i = 0; i < 3; ++i) session_.set(matmul, i + 1, buffers[i]);
    session_.finish();
    const auto multiply = [&](unsigned times) {
      const std::size_t items = n * kMatmulGroup / kMatmulTile;
      for (unsigned i = 0; i < times; ++i) session_.enqueue(matmul, items, items, kMatmulGroup);
      session_.finish();
    };
    multiply(1);
    const BenchmarkClock::time_point begin = BenchmarkClock::now();
    multiply(1);
    const std::chrono::duration<double> once = BenchmarkClock::now() - begin;
    if (once.count() < kLongEnough && n < kMost) continue;  // too short to fill a large device
    const auto size = static_cast<double>(n);
    into.matmul_flops = rate(seconds_each(multiply), 2 * size * size * size);
    std::vector<float> c(n * n);
    session_.read(buffers[2], c.data(), bytes);
    session_.finish();
    note(into, product_is_right(a, b, c, n));
    return;
  }
}

using Step = void (DeviceBenchmark::*)(Benchmark&);
constexpr std::array<Step, 5> kSteps = {
    &DeviceBenchmark::measure_launches, &DeviceBenchmark::measure_copies,
    &DeviceBenchmark::measure_memory, &DeviceBenchmark::measure_vector,
    &DeviceBenchmark::measure_matmul};

Benchmark description_of(const opencl::Library& library, cl_device_id device) {
  const cl_device_type type = opencl::number_of(library, device, CL_DEVICE_TYPE, cl_device_type{0});
  Benchmark made;
  made.name = opencl::name_of(library, device);
  made.pci_address = opencl::pci_address_of(library, device);
  made.type = opencl::type_name(type);
  return made;
}

}  // namespace

std::vector<Benchmark> measure_devices(
    const Roots& roots, const std::function<void(std::size_t step, std::size_t steps)>& on_step) {
  std::vector<Benchmark> all;
  const std::shared_ptr<const opencl::Library> library = opencl::open_library();
  if (!library) return all;
  const std::vector<cl_device_id> devices = opencl::all_devices(*library);
  const std::size_t steps = devices.size() * kSteps.size();
  for (cl_device_id device : devices) {
    Benchmark benchmark = description_of(*library, device);
    const std::size_t first_step = all.size() * kSteps.size();
    try {
      DeviceBenchmark of_device(library, device);
      for (std::size_t i = 0; i < kSteps.size(); ++i) {
        on_step(first_step + i, steps);
        (of_device.*kSteps[i])(benchmark);
        // A link that has nothing to do is slow to save power.
        const bool has_copied = benchmark.from_device_bytes_per_second && !benchmark.link;
        if (has_copied) benchmark.link = pci_link(roots, benchmark.pci_address);
      }
    } catch (const base::Error& error) {
      benchmark.problem = error.problem();
    }
    all.push_back(std::move(benchmark));
  }
  return all;
}

}  // namespace fathom::devices
