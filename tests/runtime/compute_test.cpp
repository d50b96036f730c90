#include "fathom/compute.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
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

// 2048 x 2048 x 1 is as much work as a square of 161, and moves fifty times as much.
TEST(Compute, AThinProductIsJudgedByItsBytes) {
  DeviceModel host = slow_host();
  host.flops_per_second = 2e10;
  DeviceModel small = quick_gpu();
  small.memory_bytes = 4 << 20;
  for (const DeviceModel& gpu : {quick_gpu(), small}) {
    SimulatedMachine machine({host, gpu});
    const std::vector<float> a(2048 * 2048, 1.0f);
    const std::vector<float> b(2048, 1.0f);
    std::vector<float> c(2048);
    const Ran ran = machine.compute->matmul({.rows = 2048, .inner = 2048, .columns = 1}, c, a, b);
    EXPECT_EQ(ran.route.device, 0u);
    EXPECT_EQ(ran.route.bytes, 4.0 * (2048 * 2048 + 2 * 2048));
    EXPECT_EQ(machine.devices[1]->allocated_bytes(), 0u);
    EXPECT_TRUE(machine.events.empty()) << "its memory is known to be too small";
    EXPECT_EQ(c[7], 2048.0f);
  }
}

// As `fathom tune` writes it, but for a link as slow as a modem.
struct OwnProfile {
  explicit OwnProfile(const std::string& description) {
    DeviceModel gpu = quick_gpu();
    gpu.description = description;
    gpu.link_bytes_per_second = 1e4;
    MachineProfile profile;
    profile.machine = machine_name();
    profile.devices = {slow_host(), gpu};
    for (const DeviceModel& model : profile.devices) {
      ProfileCurve& curve = profile.curves.emplace_back();
      curve.operation = Operation::matmul;
      curve.device = model.name;
      for (double size = 4; size < 5000; size *= 4) {
        curve.calls.push_back({size, modelled_ns(model, Operation::matmul, size)});
      }
    }
    write_machine_profile(path, profile);
    setenv("FATHOM_MACHINE_PROFILE", path.c_str(), 1);
  }
  ~OwnProfile() {
    unsetenv("FATHOM_MACHINE_PROFILE");
    std::filesystem::remove(path);
  }
  std::string path =
      testing::TempDir() + "/fathom_own_profile_" + std::to_string(getpid()) + ".json";
};

ComputeOptions only_simulated() {
  return {.uses_cuda = false, .uses_opencl = false, .simulated = {quick_gpu()}};
}

TEST(Compute, GoesByTheLinksOfTheProfileAsFathomRouteDoes) {
  const OwnProfile profile("");
  Compute compute(only_simulated());
  const Router router = Router::of_this_machine();
  for (const double size : {16.0, 256.0, 1024.0}) {
    const Route route = compute.router().route(Operation::matmul, size);
    EXPECT_EQ(route.device, kHost) << size;
    EXPECT_NEAR(*compute.router().expected_ns(Operation::matmul, size, 1) /
                    *router.expected_ns(Operation::matmul, size, 1),
                1, 1e-6);
  }
  ComputeOptions without = only_simulated();
  without.uses_machine_profile = false;
  Compute guessing(without);
  EXPECT_EQ(guessing.router().route(Operation::matmul, 4096).device, 1u);
}

TEST(Compute, LeavesAsideWhatWasMeasuredOnAnotherDeviceOfThatName) {
  const OwnProfile profile("the GPU that was sold");
  testing::internal::CaptureStderr();
  Compute compute(only_simulated());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "fathom: gpu: 'the GPU that was sold' was measured, '" + compute.description(1) +
                "' is there now. To measure this machine: fathom tune\n");
  EXPECT_FALSE(compute.router().is_calibrated(Operation::matmul, 1));
  EXPECT_TRUE(compute.router().is_calibrated(Operation::matmul, kHost));
  EXPECT_EQ(compute.router().devices()[1].link_bytes_per_second, quick_gpu().link_bytes_per_second);
}

// As OpenCL does: kernels are compiled when a device is first used.
TEST(Compute, ExploringPaysForOpeningADevice) {
  constexpr std::int64_t kOpening = 1'000'000'000;
  SimulatedMachine machine({slow_host(), quick_gpu()}, {});
  machine.devices[1]->take_to_open(kOpening);
  std::vector<float> c;
  std::vector<Ran> explored;
  const auto run = [&](int calls) {
    for (int call = 0; call < calls; ++call) {
      const Ran ran = square_matmul(*machine.compute, 16, c);
      if (ran.route.cause == RouteCause::exploring) explored.push_back(ran);
    }
  };
  run(4000);
  ASSERT_EQ(explored.size(), 1u) << "a second of compiling is not paid for by 4,000 small calls";
  EXPECT_EQ(explored[0].prepare_ns, kOpening);
}

TEST(Compute, AListenerMayComputeWhileAnotherDeviceFails) {
  DeviceModel second = quick_gpu();
  second.name = "second";
  SimulatedMachine machine({slow_host(), quick_gpu(), second});
  for (SimulatedDevice* const device : {machine.devices[1], machine.devices[2]}) {
    device->disappear_after(0);
  }
  std::vector<std::string> told;
  std::vector<float> inner;
  machine.compute->on_event([&](const ComputeEvent& event) {
    told.push_back(event.device);
    if (told.size() == 1) square_matmul(*machine.compute, 128, inner);
  });
  std::vector<float> c;
  square_matmul(*machine.compute, 128, c);
  EXPECT_EQ(told.size(), 2u);
  EXPECT_EQ(c, std::vector<float>(128 * 128, 128.0f));
  EXPECT_EQ(inner, c);
}

TEST(Compute, DataThatIsOnADeviceStaysThere) {
  SimulatedMachine machine({slow_host(), quick_gpu()});
  Compute& compute = *machine.compute;
  const std::vector<float> ones(100'000, 1.0f);
  std::vector<float> out(ones.size());
  EXPECT_EQ(compute.add(out, ones, ones).route.device, kHost)
      << "transfers cost more than they bring";
  const DeviceData a = compute.put(1, ones);
  const DeviceData sum = compute.put(1, ones);
  const Ran added = compute.elementwise(Operation::add, sum, a, a);
  EXPECT_EQ(added.route.device, 1u);
  EXPECT_EQ(added.route.where, 1u);
  EXPECT_EQ(added.transfer_ns, 0);
  EXPECT_NEAR(added.took_ns, modelled_ns(quick_gpu(), Operation::add, 100'000), 10);
  compute.elementwise(Operation::saxpy, sum, sum, a, 3);
  compute.get(out, sum);
  EXPECT_EQ(out, std::vector<float>(ones.size(), 7.0f));
}

TEST(Compute, DataOnADeviceIsComputedElsewhereWhereThatIsFaster) {
  DeviceModel weak = quick_gpu();
  weak.flops_per_second = 1e6;
  SimulatedMachine machine({slow_host(), weak});
  Compute& compute = *machine.compute;
  const DeviceData a = compute.put(1, std::vector<float>(64 * 64, 1.0f));
  const DeviceData product = compute.put(1, std::vector<float>(64 * 64));
  const Ran ran = compute.matmul({.rows = 64, .inner = 64, .columns = 64}, product, a, a);
  EXPECT_EQ(ran.route.device, kHost);
  EXPECT_NEAR(ran.transfer_ns, modelled_transfers_ns(weak, Operation::matmul, 64), 10);
  std::vector<float> out(64 * 64);
  compute.get(out, product);
  EXPECT_EQ(out, std::vector<float>(64 * 64, 64.0f));
}

TEST(Compute, WhatIsWrongWithDataOnDevicesIsOneLine) {
  std::optional<SimulatedMachine> machine(std::in_place, std::vector{slow_host(), quick_gpu()});
  Compute& compute = *machine->compute;
  const std::vector<float> ones(16, 1.0f);
  {
    const DeviceData here = compute.put(kHost, ones);
    const DeviceData there = compute.put(1, ones);
    const auto problem_of = [](const std::function<void()>& call) -> std::string {
      try {
        call();
      } catch (const std::runtime_error& error) {
        return error.what();
      }
      return "none";
    };
    EXPECT_EQ(problem_of([&] { compute.elementwise(Operation::add, there, here, there); }),
              "add: its data is on several devices. Put all of it on one");
    EXPECT_EQ(problem_of([&] { compute.elementwise(Operation::reduce, there, there, there); }),
              "reduce: not an element-wise operation");
    EXPECT_EQ(problem_of([&] {
                compute.matmul({2, 2, 2}, there, there, there);
              }),
              "matmul: a has 16 elements, not 4");
    EXPECT_EQ(problem_of([&] { compute.put(7, ones); }), "compute: no device 7");
    machine->devices[1]->disappear_after(0);
    EXPECT_EQ(problem_of([&] { compute.elementwise(Operation::relu, there, there, there); }),
              "gpu: the device does not answer; what was on it is lost");
    EXPECT_TRUE(compute.router().is_lost(1));
    ASSERT_EQ(machine->events.size(), 1u);
    EXPECT_EQ(machine->events[0], "gpu: the device does not answer; what was on it is lost");
    EXPECT_EQ(problem_of([&] { compute.elementwise(Operation::relu, here, here, here); }), "none");
  }
  machine.reset();
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

// Time lost against whoever always knows best, over a sweep of operations and sizes, in calls. What
// devices and links really take is told to the router as calls happen.
struct Sweep {
  DeviceModel host;
  DeviceModel gpu;
  double slowness = 1;

  double on_device(DeviceIndex device, Operation operation, double size) const {
    return device == 0 ? modelled_ns(host, operation, size)
                       : modelled_ns(gpu, operation, size) * slowness;
  }
  double regret(Router& router, int calls) const {
    constexpr std::array kOf = {Operation::matmul, Operation::reduce, Operation::add};
    constexpr std::array kSizes = {8.0, 64.0, 200.0, 512.0, 2000.0};
    double taken = 0;
    double best = 0;
    for (int call = 0; call < calls; ++call) {
      const auto index = static_cast<std::size_t>(call);
      const Operation operation = kOf[index % kOf.size()];
      const double size = kSizes[index / kOf.size() % kSizes.size()];
      const double transfers = modelled_transfers_ns(gpu, operation, size);
      const auto truth = [&](DeviceIndex device) {
        return on_device(device, operation, size) + (device == 1 ? transfers : 0);
      };
      const Route route = router.route(operation, size);
      router.learn(route, on_device(route.device, operation, size));
      if (route.device == 1) {
        const double bytes = bytes_touched(operation, size);
        router.learn_transfer(1, static_cast<std::size_t>(bytes), modelled_transfer_ns(gpu, bytes));
      }
      taken += truth(route.device);
      best += std::min(truth(0), truth(1));
    }
    return taken / best - 1;
  }
};

TEST(Compute, LosesLittleAgainstWhoeverKnowsBestAlsoAfterASlowdown) {
  // All that the router believes at first is wrong: the host is three times as fast, the GPU a
  // fifth, and its link half.
  Sweep truth = {slow_host(), quick_gpu()};
  DeviceModel host = truth.host;
  host.flops_per_second /= 3;
  host.memory_bytes_per_second /= 3;
  DeviceModel gpu = truth.gpu;
  gpu.flops_per_second *= 5;
  gpu.memory_bytes_per_second *= 5;
  gpu.link_bytes_per_second *= 2;
  gpu.link_latency_ns /= 2;
  Router router({host, gpu});
  truth.regret(router, 50);
  EXPECT_LE(truth.regret(router, 300), 0.05);
  truth.slowness = 5;
  truth.regret(router, 50);  // to notice
  EXPECT_LE(truth.regret(router, 300), 0.10);
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
