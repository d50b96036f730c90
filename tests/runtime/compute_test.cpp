#include "fathom/compute.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "base/error.h"
#include "runtime/test_compute.h"
#include "runtime/work.h"

namespace fathom::runtime {
namespace {

std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

Ran square_matmul(Compute& compute, std::size_t edge, std::vector<float>& c) {
  const std::vector<float> a(edge * edge, 1.0f);
  c.assign(edge * edge, 0.0f);
  return compute.matmul({.rows = edge, .inner = edge, .columns = edge}, c, a, a);
}

TEST(Compute, RunsSmallOnTheHostAndLargeOnTheGpuAndIsRightOnBoth) {
  SimulatedMachine machine({slow_host(), quick_gpu()});
  std::vector<float> c;
  EXPECT_EQ(square_matmul(*machine.compute, 8, c).route.device, 0u);
  EXPECT_EQ(c, std::vector<float>(64, 8.0f));
  const Ran ran = square_matmul(*machine.compute, 128, c);
  EXPECT_EQ(ran.route.device, 1u);
  EXPECT_EQ(c, std::vector<float>(128 * 128, 128.0f));
  EXPECT_NEAR(ran.took_ns + ran.transfer_ns, ran.route.expected_ns, 0.05 * ran.route.expected_ns);
  EXPECT_TRUE(machine.events.empty());
  EXPECT_GT(machine.compute->pool(1).statistics().allocations, 0u);
  EXPECT_EQ(machine.compute->pool(1).statistics().current_bytes, 0u);
}

TEST(Compute, ADeviceThatDisappearsInTheMiddleIsLeftAndTheResultIsRight) {
  for (const int calls : {0, 1, 2, 3}) {  // before the first copy, …, before the result is read
    SimulatedMachine machine({slow_host(), quick_gpu()});
    machine.devices[1]->disappear_after(calls);
    std::vector<float> c;
    const Ran ran = square_matmul(*machine.compute, 128, c);
    EXPECT_EQ(ran.route.device, 0u);
    EXPECT_EQ(c, std::vector<float>(128 * 128, 128.0f));
    ASSERT_EQ(machine.events.size(), 1u);
    EXPECT_EQ(machine.events[0], "gpu: the device does not answer; continuing without it");
    EXPECT_TRUE(machine.compute->router().is_lost(1));
    square_matmul(*machine.compute, 128, c);
    EXPECT_EQ(machine.events.size(), 1u) << "it is not asked again";
  }
}

TEST(Compute, WhatDoesNotFitOnADeviceRunsOnTheHost) {
  DeviceModel small = quick_gpu();
  small.memory_bytes = 3 << 20;
  SimulatedMachine machine({slow_host(), small});
  const PoolBlock used = machine.compute->pool(1).allocate(2 << 20);
  std::vector<float> c;
  EXPECT_EQ(square_matmul(*machine.compute, 300, c).route.device, 0u);
  EXPECT_EQ(c[0], 300.0f);
  ASSERT_EQ(machine.events.size(), 1u);
  EXPECT_NE(machine.events[0].find("out of memory"), std::string::npos);
  machine.compute->pool(1).free(used);
  machine.compute->pool(1).trim();
  EXPECT_FALSE(machine.compute->router().is_lost(1));
}

TEST(Compute, EveryOperationIsRightWhereverItRuns) {
  for (const DeviceIndex device : {0u, 1u}) {
    SimulatedMachine machine({slow_host(), quick_gpu()});
    Compute& compute = *machine.compute;
    for (std::size_t i = 0; i < kOperations; ++i) {
      compute.router().force(static_cast<Operation>(i), device);
    }
    const auto a = counted(100);
    std::vector<float> out(100);
    EXPECT_EQ(compute.add(out, a, a).route.device, device);
    EXPECT_EQ(out[9], 20.0f);
    compute.multiply(out, a, a);
    EXPECT_EQ(out[9], 100.0f);
    compute.saxpy(-2, out, a, a);
    EXPECT_EQ(out[9], -10.0f);
    compute.relu(out, out);
    EXPECT_EQ(out[9], 0.0f);
    float sum = 0;
    compute.reduce(sum, a);
    EXPECT_EQ(sum, 5050.0f);
    std::vector<std::uint32_t> words = {1, 2, 3, 4, 5};
    const std::vector<std::uint32_t> key = {9, 9, 9, 9, 9};
    compute.xor_words(words, words, key);
    EXPECT_EQ(words, (std::vector<std::uint32_t>{8, 11, 10, 13, 12}));
    std::vector<std::uint32_t> distances(3);
    compute.graph_search(distances, std::vector<std::uint32_t>{0, 1, 2, 2},
                         std::vector<std::uint32_t>{1, 2}, 0);
    EXPECT_EQ(distances, (std::vector<std::uint32_t>{0, 1, 2}));
  }
}

TEST(Compute, NothingIsFineEverywhere) {
  SimulatedMachine machine({slow_host(), quick_gpu()});
  Compute& compute = *machine.compute;
  std::vector<float> none;
  float sum = 1;
  compute.add(none, none, none);
  compute.reduce(sum, none);
  EXPECT_EQ(sum, 0.0f);
  compute.matmul({.rows = 0, .inner = 5, .columns = 0}, none, none, none);
  std::vector<float> c(4, 7.0f);
  compute.matmul({.rows = 2, .inner = 0, .columns = 2}, c, none, none);
  EXPECT_EQ(c, std::vector<float>(4, 0.0f));
}

std::string problem_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(Compute, ArgumentsThatDoNotFitTogetherAreOneLine) {
  SimulatedMachine machine({slow_host()});
  Compute& compute = *machine.compute;
  std::vector<float> four(4);
  std::vector<float> five(5);
  const std::vector<std::uint32_t> words = {0, 1};
  std::vector<std::uint32_t> distances(2);
  EXPECT_EQ(problem_of([&] { compute.add(four, four, five); }), "add: b has 5 elements, not 4");
  EXPECT_EQ(problem_of([&] {
              compute.matmul({2, 2, 2}, four, five, four);
            }),
            "matmul: a has 5 elements, not 4");
  const std::size_t huge = static_cast<std::size_t>(-1);
  EXPECT_EQ(problem_of([&] {
              compute.matmul({huge, huge, 2}, four, four, four);
            }),
            "matmul: the sizes are too large. An edge is at most 2,147,483,647");
  EXPECT_EQ(problem_of([&] {
              compute.matmul({INT32_MAX, INT32_MAX, 2}, four, four, four);
            }),
            "matmul: the sizes are too large. Their product overflows");
  EXPECT_EQ(problem_of([&] {
              compute.matmul({.rows = 2, .inner = 2, .columns = 2, .batch = 2, .stride_a = 3}, four,
                             four, four);
            }),
            "matmul: a stride of 3 is less than a matrix of 4 elements");
  EXPECT_EQ(problem_of([&] { compute.graph_search(distances, words, words, 0); }),
            "graph_search: 2 offsets for 2 nodes, not one more");
  EXPECT_EQ(problem_of([&] {
              compute.graph_search(distances, std::vector<std::uint32_t>{0, 1, 1},
                                   std::vector<std::uint32_t>{7}, 0);
            }),
            "graph_search: an edge leads to node 7 of 2");
  EXPECT_EQ(problem_of([&] {
              compute.graph_search(distances, std::vector<std::uint32_t>{0, 0, 0}, {}, 2);
            }),
            "graph_search: no node 2");
}

// Time lost against whoever always knows best, over a sweep of operations and sizes.
double regret(SimulatedMachine& machine, int rounds, double slowness) {
  double taken = 0;
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const Operation operation : {Operation::matmul, Operation::reduce, Operation::add}) {
      for (const double size : {8.0, 64.0, 200.0, 512.0, 2000.0}) {
        Router& router = machine.compute->router();
        const auto truth = [&](DeviceIndex device) {
          const DeviceModel& model = router.devices()[device];
          return modelled_ns(model, operation, size) * (device == 1 ? slowness : 1) +
                 modelled_transfers_ns(model, operation, size);
        };
        const Route route = router.route(operation, size);
        router.learn(route, modelled_ns(router.devices()[route.device], operation, size) *
                                (route.device == 1 ? slowness : 1));
        taken += truth(route.device);
        best += std::min(truth(0), truth(1));
      }
    }
  }
  return taken / best - 1;
}

TEST(Compute, LosesLittleAgainstWhoeverKnowsBestAlsoAfterASlowdown) {
  SimulatedMachine machine({slow_host(), quick_gpu()}, {});
  EXPECT_LE(regret(machine, 20, 1), 0.05);
  regret(machine, 4, 5);  // 60 calls to notice
  EXPECT_LE(regret(machine, 20, 5), 0.10);
}

TEST(Compute, ManyThreadsMayUseIt) {
  Compute compute({.uses_opencl = false, .uses_machine_profile = false});
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      const auto a = counted(1000);
      std::vector<float> out(1000);
      for (int i = 0; i < 50; ++i) {
        compute.add(out, a, a);
        ASSERT_EQ(out[999], 2000.0f);
      }
    });
  }
}

}  // namespace
}  // namespace fathom::runtime
