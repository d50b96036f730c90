#include "fathom/batch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <random>

#include "runtime/cpu/many_products.h"
#include "runtime/test_compute.h"

namespace fathom::runtime {
namespace {

using Words = std::vector<std::uint32_t>;

Words random_words(std::mt19937& random, std::size_t count) {
  Words words(count);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  return words;
}

// Every XOR of unequal lengths, on the device that is told.
void expect_xors_are_right(SimulatedMachine& machine, DeviceIndex device, std::size_t calls) {
  std::mt19937 random(3);
  machine.compute->router().force(Operation::xor_words, device);
  std::vector<std::array<Words, 3>> items;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::size_t count = random() % 9;
    items.push_back({random_words(random, count), random_words(random, count), Words(count)});
  }
  Batch batch(*machine.compute);
  for (auto& [a, b, out] : items) batch.xor_words(out, a, b);
  const BatchResult result = batch.run();
  EXPECT_EQ(batch.size(), 0u);
  EXPECT_EQ(result.items, 300u);
  EXPECT_EQ(result.calls, calls);
  EXPECT_TRUE(result.failures.empty());
  for (const auto& [a, b, out] : items) {
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(out[i], a[i] ^ b[i]);
  }
}

TEST(Batch, ManyXorsAreOneCall) {
  SimulatedMachine machine({slow_host(), quick_gpu()});
  expect_xors_are_right(machine, 0, 1);
  const std::int64_t before = machine.clock->now_ns();
  expect_xors_are_right(machine, 1, 1);
  EXPECT_LT(machine.clock->now_ns() - before, 50'000) << "one launch, not 300";
}

TEST(Batch, ProductsAreGroupedByShapeAndNotPadded) {
  for (const DeviceIndex device : {0u, 1u}) {
    SimulatedMachine machine({slow_host(), quick_gpu()});
    machine.compute->router().force(Operation::matmul, device);
    Batch batch(*machine.compute);
    std::vector<std::vector<float>> results;
    const std::vector<float> ones(64 * 64, 1.0f);
    for (std::size_t i = 0; i < 20; ++i) {
      const std::size_t edge = i % 2 == 0 ? 5 : 33;
      results.emplace_back(edge * edge);
    }
    for (std::vector<float>& result : results) {
      const auto edge = result.size() == 25 ? std::size_t{5} : std::size_t{33};
      const auto operand = std::span(ones).first(edge * edge);
      batch.matmul({.rows = edge, .inner = edge, .columns = edge}, result, operand, operand);
    }
    EXPECT_EQ(batch.run().calls, 2u);
    for (const std::vector<float>& result : results) {
      const float expected = result.size() == 25 ? 5.0f : 33.0f;
      for (const float value : result) ASSERT_EQ(value, expected);
    }
  }
}

TEST(Batch, ElementwiseItemsOfAllKindsAreRight) {
  for (const DeviceIndex device : {0u, 1u}) {
    SimulatedMachine machine({slow_host(), quick_gpu()});
    for (const Operation operation :
         {Operation::add, Operation::multiply, Operation::relu, Operation::saxpy}) {
      machine.compute->router().force(operation, device);
    }
    const std::vector<float> a = {1, -2, 3};
    const std::vector<float> b = {4, 5, 6};
    std::vector<std::vector<float>> out(6, std::vector<float>(3));
    Batch batch(*machine.compute);
    batch.elementwise(Operation::add, out[0], a, b);
    batch.elementwise(Operation::saxpy, out[1], a, b, 2);
    batch.elementwise(Operation::multiply, out[2], a, b);
    batch.elementwise(Operation::saxpy, out[3], a, b, 3);
    batch.elementwise(Operation::relu, out[4], a, {});
    batch.elementwise(Operation::add, out[5], b, b);
    EXPECT_EQ(batch.run().calls, 5u) << "two saxpys with different factors";
    EXPECT_EQ(out[0], (std::vector<float>{5, 3, 9}));
    EXPECT_EQ(out[1], (std::vector<float>{6, 1, 12}));
    EXPECT_EQ(out[2], (std::vector<float>{4, -10, 18}));
    EXPECT_EQ(out[3], (std::vector<float>{7, -1, 15}));
    EXPECT_EQ(out[4], (std::vector<float>{1, 0, 3}));
    EXPECT_EQ(out[5], (std::vector<float>{8, 10, 12}));
    EXPECT_THROW(batch.elementwise(Operation::matmul, out[0], a, b), std::runtime_error);
  }
}

TEST(Batch, AFactorThatIsNoNumberIsAFactor) {
  SimulatedMachine machine({slow_host(), quick_gpu()});
  const std::vector<float> ones = {1, 1};
  std::vector<std::vector<float>> out(3, std::vector<float>(2));
  Batch batch(*machine.compute);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  batch.elementwise(Operation::saxpy, out[0], ones, ones, nan);
  batch.elementwise(Operation::saxpy, out[1], ones, ones, 2);
  batch.elementwise(Operation::saxpy, out[2], ones, ones, nan);
  const BatchResult result = batch.run();
  EXPECT_EQ(result.calls, 2u);
  EXPECT_TRUE(result.failures.empty());
  EXPECT_TRUE(std::isnan(out[0][1]));
  EXPECT_EQ(out[1][1], 3.0f);
  EXPECT_TRUE(std::isnan(out[2][0]));
}

TEST(Batch, AnItemThatIsWrongFailsAlone) {
  SimulatedMachine machine({slow_host()});
  Batch batch(*machine.compute);
  Words good = {1, 2};
  Words short_one = {1};
  batch.xor_words(good, good, good);
  const std::size_t wrong = batch.xor_words(good, short_one, good);
  std::vector<float> c(1);
  const std::size_t huge = static_cast<std::size_t>(-1);
  const std::size_t too_large = batch.matmul({huge, huge, huge}, c, c, c);
  const BatchResult result = batch.run();
  ASSERT_EQ(result.failures.size(), 2u);
  EXPECT_EQ(result.failures[0].item, wrong);
  EXPECT_EQ(result.failures[0].what, "xor: the result has 2 elements, not 1");
  EXPECT_EQ(result.failures[1].item, too_large);
  EXPECT_EQ(good, (Words{0, 0}));
}

TEST(Batch, SurvivesADeviceThatDisappears) {
  SimulatedMachine machine({slow_host(), quick_gpu()});
  machine.devices[1]->disappear_after(1);
  machine.compute->router().force(Operation::xor_words, 1);
  Batch batch(*machine.compute);
  Words words = {1, 2, 3};
  batch.xor_words(words, words, words);
  EXPECT_TRUE(batch.run().failures.empty());
  EXPECT_EQ(words, (Words{0, 0, 0}));
  EXPECT_EQ(machine.events.size(), 1u);
}

// A device whose driver does something that nobody thought of.
class Surprising : public SimulatedDevice {
 public:
  using SimulatedDevice::SimulatedDevice;
  void xor_words(Place, Place, Place, std::size_t) override {
    throw std::logic_error("what nobody thought of");
  }
};

TEST(Batch, ASurpriseOnADeviceFailsNoItem) {
  auto clock = std::make_unique<VirtualClock>();
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::make_unique<SimulatedDevice>(slow_host(), *clock));
  devices.push_back(std::make_unique<Surprising>(quick_gpu(), *clock));
  Compute compute(std::make_unique<Compute::State>(std::move(devices), std::move(clock),
                                                   RouterOptions{.exploration_share = 0}));
  compute.router().force(Operation::xor_words, 1);
  std::vector<Words> all(20, Words{1, 2, 3});
  const Words key = {3, 2, 1};
  Batch batch(compute);
  for (Words& words : all) batch.xor_words(words, words, key);
  EXPECT_TRUE(batch.run().failures.empty());
  for (const Words& words : all) EXPECT_EQ(words, (Words{2, 0, 2})) << "once, not twice";
}

TEST(Batch, TeachesTheRouterWhatTheHostTakes) {
  Compute compute({.uses_cuda = false, .uses_opencl = false, .uses_machine_profile = false});
  const std::vector<float> a(128 * 128, 1.0f);
  std::vector<std::vector<float>> out(8, a);
  const auto run = [&] {
    Batch batch(compute);
    for (auto& c : out) batch.matmul({.rows = 128, .inner = 128, .columns = 128}, c, a, a);
    batch.run();
  };
  run();
  EXPECT_TRUE(compute.router().statistics().empty()) << "it warmed up";
  run();
  ASSERT_EQ(compute.router().statistics().size(), 1u);
  EXPECT_EQ(compute.router().statistics()[0].operation, Operation::matmul);
  // Of small items the time goes into each: one call of that many words is no such thing.
  const Words word = {1};
  std::vector<Words> small(1000, word);
  for (int round = 0; round < 3; ++round) {
    Batch batch(compute);
    for (Words& own : small) batch.xor_words(own, own, word);
    batch.run();
  }
  EXPECT_EQ(compute.router().statistics().size(), 1u);
}

TEST(ManyProducts, TakeTheWayThatWasFaster) {
  WayOfMany way;
  const auto run = [&](double serial, double parallel) {
    const bool is_parallel = way.is_parallel();
    way.took(is_parallel, is_parallel ? parallel : serial);
    return is_parallel;
  };
  EXPECT_FALSE(run(100, 60)) << "at first as without a batch";
  EXPECT_FALSE(run(100, 60));
  EXPECT_TRUE(run(100, 60));
  EXPECT_TRUE(run(100, 60));
  int parallel = 0;
  for (int call = 0; call < 640; ++call) parallel += run(100, 60) ? 1 : 0;
  EXPECT_EQ(parallel, 630) << "and a look at the other now and then";
  for (int call = 0; call < 640; ++call) run(100, 200);  // something else uses the cores now
  parallel = 0;
  for (int call = 0; call < 640; ++call) parallel += run(100, 200) ? 1 : 0;
  EXPECT_EQ(parallel, 10);
}

TEST(Batch, ACallIsAsLargeAsMemoryAndLatencyAllow) {
  const BatchOptions options = {.most_latency_ms = 1, .most_memory_share = 0.5};
  EXPECT_EQ(items_per_call(options, 100, 1000, std::nullopt), 1000u);
  EXPECT_EQ(items_per_call(options, 100, 1000, 20'000), 100u);
  EXPECT_EQ(items_per_call(options, 1 << 20, 1e9, 1 << 20), 1u);
  DeviceModel small = quick_gpu();
  small.memory_bytes = 24 << 10;
  SimulatedMachine machine({slow_host(), small});
  expect_xors_are_right(machine, 1, 3);
}

TEST(ExecuteParallel, CallsAllAndKeepsErrorsApart) {
  std::atomic<int> called = 0;
  std::vector<std::function<void()>> functions(20, [&] { ++called; });
  functions[3] = [] { throw std::runtime_error("three"); };
  functions[7] = [] { throw 7; };
  const ParallelResult result = execute_parallel(functions);
  EXPECT_EQ(called, 18);
  EXPECT_EQ(result.failed, 2u);
  EXPECT_EQ(result.errors[3], "three");
  EXPECT_EQ(result.errors[7], "something that is no std::exception was thrown");
  EXPECT_EQ(result.errors[0], std::nullopt);
  EXPECT_EQ(execute_parallel({}).failed, 0u);
}

}  // namespace
}  // namespace fathom::runtime
