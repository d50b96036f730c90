#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <ostream>
#include <random>
#include <string>

#ifdef FATHOM_RUNTIME_CUDA
#include "runtime/cuda/cuda.h"
#endif
#include "runtime/device.h"
#include "runtime/opencl/opencl.h"
#include "runtime/simulated/simulated.h"

// PoCL leaves much behind, and its threads are there when leaks are looked for.
extern "C" int __lsan_is_turned_off() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("libpocl") != std::string::npos) return 1;
  }
  return 0;
}

// What every backend must do alike. A new one is a line in all_devices().
namespace fathom::runtime {
namespace {

struct Tested {
  std::string name;
  std::function<std::unique_ptr<Device>()> make;  // null where there is none on this machine
};

void PrintTo(const Tested& tested, std::ostream* out) {
  *out << tested.name;
}

VirtualClock& test_clock() {
  static VirtualClock clock;
  return clock;
}

std::unique_ptr<Device> first_of(std::vector<std::unique_ptr<Device>> devices) {
  return devices.empty() ? nullptr : std::move(devices[0]);
}

std::vector<Tested> all_devices() {
  return {
      {"cpu", [] { return cpu_device(); }},
      {"opencl", [] { return first_of(opencl_devices()); }},
      {"opencl_stand_in_clblast",
       [] {
         return first_of(opencl_devices({STAND_IN_CLBLAST, true}));
       }},
#ifdef FATHOM_RUNTIME_CUDA
      {"cuda", [] { return first_of(cuda_devices()); }},
      {"cuda_stand_in",
       [] {
         return first_of(cuda_devices({STAND_IN_DRIVER, STAND_IN_CUBLAS}));
       }},
      {"cuda_stand_in_without_cublas",
       [] {
         return first_of(cuda_devices({STAND_IN_DRIVER, "libno_cublas.so"}));
       }},
#endif
      {"simulated", [] { return simulated_device({.name = "simulated"}, test_clock()); }},
  };
}

class Conformance : public testing::TestWithParam<Tested> {
 protected:
  void SetUp() override {
    device_ = GetParam().make();
    if (!device_) GTEST_SKIP() << "no such device here";
  }
  void TearDown() override {
    for (void* segment : segments_) device_->release(segment);
  }

  Place room(std::size_t bytes) {
    segments_.push_back(device_->allocate(bytes));
    EXPECT_NE(segments_.back(), nullptr);
    return {segments_.back(), 0};
  }
  // At an offset, as the pool gives it.
  template <typename T>
  Place put(const std::vector<T>& values) {
    constexpr std::size_t kOffset = 512;
    Place place = room(kOffset + values.size() * sizeof(T) + 1);
    place.offset = kOffset;
    device_->write(place, values.data(), values.size() * sizeof(T));
    return place;
  }
  template <typename T>
  std::vector<T> get(Place place, std::size_t count) {
    std::vector<T> values(count);
    device_->read(values.data(), place, count * sizeof(T));
    return values;
  }

  std::unique_ptr<Device> device_;
  std::vector<void*> segments_;
  std::mt19937 random_{7};
};

std::vector<float> floats(std::mt19937& random, std::size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = std::uniform_real_distribution<float>(-2, 2)(random);
  return values;
}

std::vector<std::uint32_t> words(std::mt19937& random, std::size_t count) {
  std::vector<std::uint32_t> values(count);
  for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(random());
  return values;
}

TEST_P(Conformance, GivesBackWhatWasWritten) {
  const auto values = words(random_, 1000);
  EXPECT_EQ(get<std::uint32_t>(put(values), 1000), values);
}

TEST_P(Conformance, XorIsExactAtEverySize) {
  for (const std::size_t count : {0, 1, 5, 63, 64, 65, 1000, 200'000}) {
    const auto a = words(random_, count);
    const auto b = words(random_, count);
    const Place out = room(count * 4 + 4);
    device_->xor_words(out, put(a), put(b), count);
    const auto result = get<std::uint32_t>(out, count);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(result[i], a[i] ^ b[i]) << count;
  }
}

TEST_P(Conformance, XorIntoAnOperandIsReversible) {
  const auto a = words(random_, 777);
  const Place state = put(a);
  const Place key = put(words(random_, 777));
  device_->xor_words(state, state, key, 777);
  EXPECT_NE(get<std::uint32_t>(state, 777), a);
  device_->xor_words(state, state, key, 777);
  EXPECT_EQ(get<std::uint32_t>(state, 777), a);
}

TEST_P(Conformance, ElementwiseOperationsAreExactAndSaxpyWithinOneUlp) {
  for (const std::size_t count : {1, 3, 127, 128, 1001, 150'000}) {
    const auto a = floats(random_, count);
    const auto b = floats(random_, count);
    const Place at_a = put(a);
    const Place at_b = put(b);
    const Place out = room(count * 4);
    const auto result_of = [&](Operation operation) {
      device_->elementwise(operation, 1.5f, out, at_a, at_b, count);
      return get<float>(out, count);
    };
    const auto sum = result_of(Operation::add);
    const auto product = result_of(Operation::multiply);
    const auto relu = result_of(Operation::relu);
    const auto saxpy = result_of(Operation::saxpy);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(sum[i], a[i] + b[i]);
      ASSERT_EQ(product[i], a[i] * b[i]);
      ASSERT_EQ(relu[i], std::max(a[i], 0.0f));
      // Rounded once or twice.
      const float most = std::abs(1.5f * a[i]) + std::abs(b[i]);
      ASSERT_NEAR(saxpy[i], 1.5 * a[i] + b[i], most * std::numeric_limits<float>::epsilon());
    }
  }
}

TEST_P(Conformance, MatmulIsWithinTheErrorOfItsSum) {
  const std::vector<MatmulShape> shapes = {{1, 1, 1},
                                           {2, 3, 4},
                                           {16, 16, 16},
                                           {17, 33, 9},
                                           {64, 64, 64},
                                           {5, 100, 1},
                                           {.rows = 100, .inner = 1, .columns = 70},
                                           {.rows = 3, .inner = 0, .columns = 4},
                                           {130, 70, 129}};
  for (const MatmulShape& shape : shapes) {
    const auto a = floats(random_, shape.rows * shape.inner);
    const auto b = floats(random_, shape.inner * shape.columns);
    const Place c = room(shape.rows * shape.columns * 4);
    device_->matmul(shape, c, put(a), put(b));
    const auto result = get<float>(c, shape.rows * shape.columns);
    for (std::size_t row = 0; row < shape.rows; ++row) {
      for (std::size_t column = 0; column < shape.columns; ++column) {
        double exact = 0;
        double sizes = 0;
        for (std::size_t k = 0; k < shape.inner; ++k) {
          const double term = double{a[row * shape.inner + k]} * b[k * shape.columns + column];
          exact += term;
          sizes += std::abs(term);
        }
        const double bound =
            static_cast<double>(shape.inner + 1) * sizes * std::numeric_limits<float>::epsilon();
        ASSERT_NEAR(result[row * shape.columns + column], exact, bound);
      }
    }
  }
}

TEST_P(Conformance, MatmulOfABatchIsThatOfEach) {
  const MatmulShape one = {.rows = 7, .inner = 12, .columns = 5};
  MatmulShape batch = one;
  batch.batch = 9;
  batch.stride_a = 7 * 12 + 3;
  batch.stride_b = 12 * 5 + 1;
  batch.stride_c = 7 * 5 + 2;
  const Place a = put(floats(random_, 9 * batch.stride_a));
  const Place b = put(floats(random_, 9 * batch.stride_b));
  const Place c = room(9 * batch.stride_c * 4);
  const Place single = room(7 * 5 * 4);
  device_->matmul(batch, c, a, b);
  const auto all = get<float>(c, 9 * batch.stride_c);
  for (std::size_t i = 0; i < 9; ++i) {
    device_->matmul(one, single, {a.segment, a.offset + i * batch.stride_a * 4},
                    {b.segment, b.offset + i * batch.stride_b * 4});
    const auto expected = get<float>(single, 35);
    for (std::size_t j = 0; j < 35; ++j) {
      ASSERT_NEAR(all[i * batch.stride_c + j], expected[j], 1e-5) << i;
    }
  }
}

TEST_P(Conformance, ASumIsWithinAFewUlpsOfTheExactOne) {
  for (const std::size_t count : {0, 1, 2, 255, 256, 257, 70'000, 300'001}) {
    const auto values = floats(random_, count);
    double exact = 0;
    double sizes = 0;
    for (const float value : values) {
      exact += value;
      sizes += std::abs(value);
    }
    EXPECT_NEAR(device_->reduce(put(values), count), exact,
                4 * sizes * std::numeric_limits<float>::epsilon())
        << count;
  }
}

TEST_P(Conformance, GraphSearchCountsEdgesAndLeavesOutWhatCannotBeReached) {
  // 0 → 1 → 2, 0 → 3 → 2, 4 alone.
  const Place offsets = put<std::uint32_t>({0, 2, 3, 3, 4, 4});
  const Place targets = put<std::uint32_t>({1, 3, 2, 2});
  const Place distances = room(5 * 4);
  device_->graph_search({offsets, targets, 5, 4}, 0, distances);
  EXPECT_EQ(get<std::uint32_t>(distances, 5), (std::vector<std::uint32_t>{0, 1, 2, 1, kUnreached}));
  device_->graph_search({offsets, targets, 5, 4}, 4, distances);
  EXPECT_EQ(get<std::uint32_t>(distances, 5),
            (std::vector<std::uint32_t>{kUnreached, kUnreached, kUnreached, kUnreached, 0}));
}

TEST_P(Conformance, GraphSearchOfARandomGraphIsThatOfTheDefinition) {
  constexpr std::uint32_t kNodes = 400;
  std::vector<std::uint32_t> offsets = {0};
  std::vector<std::uint32_t> targets;
  for (std::uint32_t node = 0; node < kNodes; ++node) {
    for (auto degree = random_() % 4; degree > 0; --degree) {
      targets.push_back(static_cast<std::uint32_t>(random_() % kNodes));
    }
    offsets.push_back(static_cast<std::uint32_t>(targets.size()));
  }
  // Until nothing changes: a node is one further than the nearest that leads to it.
  std::vector<std::uint32_t> expected(kNodes, kUnreached);
  expected[3] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t node = 0; node < kNodes; ++node) {
      if (expected[node] == kUnreached) continue;
      for (std::uint32_t edge = offsets[node]; edge < offsets[node + 1]; ++edge) {
        std::uint32_t& distance = expected[targets[edge]];
        if (distance > expected[node] + 1) distance = expected[node] + 1, changed = true;
      }
    }
  }
  const Place distances = room(kNodes * 4);
  device_->graph_search({put(offsets), put(targets), kNodes, targets.size()}, 3, distances);
  EXPECT_EQ(get<std::uint32_t>(distances, kNodes), expected);
}

INSTANTIATE_TEST_SUITE_P(Devices, Conformance, testing::ValuesIn(all_devices()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace fathom::runtime
