#include "fathom/router.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <thread>

#include "base/error.h"
#include "runtime/work.h"

namespace fathom::runtime {
namespace {

DeviceModel host() {
  return {.name = "cpu",
          .shares_host_memory = true,
          .launch_ns = 100,
          .flops_per_second = 2e10,
          .memory_bytes_per_second = 1e10};
}

DeviceModel gpu() {
  return {.name = "gpu",
          .launch_ns = 20'000,
          .link_latency_ns = 10'000,
          .link_bytes_per_second = 8e9,
          .flops_per_second = 5e12,
          .memory_bytes_per_second = 5e11};
}

RouterOptions quiet() {
  return {.exploration_share = 0};
}

double truth(const DeviceModel& model, Operation operation, double size) {
  return modelled_ns(model, operation, size) + modelled_transfers_ns(model, operation, size);
}

TEST(Router, SmallStaysOnTheHostAndLargeGoesToTheGpu) {
  const Router router({host(), gpu()}, quiet());
  EXPECT_EQ(router.route(Operation::matmul, 16).device, 0u);
  EXPECT_EQ(router.route(Operation::matmul, 4096).device, 1u);
  // Transfers cost more than an addition ever gains.
  EXPECT_EQ(router.route(Operation::add, 1e9).device, 0u);
}

TEST(Router, DataOnTheDeviceCostNoTransfer) {
  const Router router({host(), gpu()}, quiet());
  EXPECT_EQ(router.route(Operation::add, 1e7, 0).device, 0u);
  EXPECT_EQ(router.route(Operation::add, 1e7, 1).device, 1u);
}

TEST(Router, ExpectsWhatTheModelSays) {
  const Router router({host(), gpu()}, quiet());
  for (const Operation operation : {Operation::xor_words, Operation::matmul, Operation::reduce}) {
    for (double size = 1; size < 1e5; size *= 3) {
      const auto expected = router.expected_ns(operation, size, 1);
      ASSERT_TRUE(expected);
      EXPECT_NEAR(*expected / truth(gpu(), operation, size), 1, 0.02);
    }
  }
}

TEST(Router, FindsTheCrossoverOfSeveralDevicesWithinTenPercent) {
  DeviceModel fast = gpu();
  DeviceModel slow_link = gpu();
  slow_link.link_bytes_per_second = 5e8;
  DeviceModel near = gpu();
  near.launch_ns = 2'000;
  near.link_latency_ns = 500;
  for (const DeviceModel& device : {fast, slow_link, near}) {
    Router router({host(), device}, quiet());
    for (std::size_t i = 0; i < kOperations; ++i) {
      const auto operation = static_cast<Operation>(i);
      const double most = operation == Operation::matmul ? 4096 : 1e8;
      for (DeviceIndex index = 0; index < 2; ++index) {  // as tune measures: two octaves apart
        std::vector<CallTime> calls;
        for (double size = 4; size <= most; size *= 4) {
          calls.push_back({size, modelled_ns(router.devices()[index], operation, size)});
        }
        router.calibrate(operation, index, calls);
      }
      // With the data on the host only products and searches are ever faster elsewhere; with the
      // data on the device, everything is.
      for (const DeviceIndex where : {DeviceIndex{0}, DeviceIndex{1}}) {
        const auto is_on_host = [&](double size) {
          const double there = modelled_ns(device, operation, size);
          const double here = modelled_ns(host(), operation, size);
          const double moving = modelled_transfers_ns(device, operation, size);
          return where == 0 ? here < there + moving : here + moving < there;
        };
        double true_size = 1;
        while (true_size < most && is_on_host(true_size)) true_size *= 1.01;
        double found = 1;
        while (found < most && router.route(operation, found, where).device == 0) found *= 1.01;
        EXPECT_NEAR(found / true_size, 1, 0.1) << name_of(operation) << " at " << where;
      }
    }
  }
}

TEST(Router, LearnsThatADeviceBecameSlower) {
  Router router({host(), gpu()}, quiet());
  const double size = 1024;
  for (int call = 0; call < 20; ++call) {
    router.learn(router.route(Operation::matmul, size),
                 modelled_ns(gpu(), Operation::matmul, size));
  }
  ASSERT_EQ(router.route(Operation::matmul, size).device, 1u);
  int calls = 0;
  while (router.route(Operation::matmul, size).device == 1 && calls < 50) {
    router.learn(router.route(Operation::matmul, size),
                 1000 * modelled_ns(gpu(), Operation::matmul, size));
    ++calls;
  }
  EXPECT_EQ(calls, 3);
  const auto statistics = router.statistics();
  ASSERT_EQ(statistics.size(), 1u);
  EXPECT_EQ(statistics[0].calls, 23u);
  EXPECT_EQ(statistics[0].level_shifts, 1u);
}

TEST(Router, ExploresSeldomWithinItsBudgetAndFindsADeviceThatRecovered) {
  Router router({host(), gpu()});
  const double size = 1024;
  const auto time_on = [&](DeviceIndex device, double slowness) {
    return device == 0 ? modelled_ns(host(), Operation::matmul, size)
                       : slowness * modelled_ns(gpu(), Operation::matmul, size);
  };
  const auto run = [&](int calls, double slowness) {
    double explored = 0;
    double total = 0;
    for (int call = 0; call < calls; ++call) {
      const Route route = router.route(Operation::matmul, size);
      const double ns = time_on(route.device, slowness);
      total += ns;
      if (route.cause == RouteCause::exploring) explored += ns - route.other_ns;
      router.learn(route, ns);
    }
    return explored / total;
  };
  // The GPU takes four times as long as the host: it is left, and looked at now and then.
  const double slowness = 4 * time_on(0, 1) / time_on(1, 1);
  run(10, slowness);
  ASSERT_EQ(router.route(Operation::matmul, size).device, 0u);
  const double share = run(5000, slowness);
  EXPECT_LE(share, 0.011);
  EXPECT_GT(share, 0);
  run(3000, 1);
  EXPECT_EQ(router.route(Operation::matmul, size).device, 1u);
}

TEST(Router, NeverExploresWhereItHurtsByMoreThanTheBound) {
  Router router({host(), gpu()});
  for (int call = 0; call < 20'000; ++call) {
    const Route route = router.route(Operation::xor_words, 5);
    ASSERT_EQ(route.device, 0u);  // the GPU is hundreds of times slower
    router.learn(route, 100);
  }
}

TEST(Router, LooksAtEachOperationOfALoopAndOfEachRouter) {
  DeviceModel twin = host();
  twin.name = "twin";
  twin.launch_ns *= 1.5;
  std::array<Router, 2> routers = {Router({host(), twin}), Router({host(), twin})};
  std::array<std::array<int, kOperations>, 2> explored = {};
  for (int round = 0; round < 20'000; ++round) {
    for (std::size_t of = 0; of < routers.size(); ++of) {
      for (std::size_t i = 0; i < kOperations; ++i) {
        const Route route = routers[of].route(static_cast<Operation>(i), 4);
        explored[of][i] += route.cause == RouteCause::exploring ? 1 : 0;
        routers[of].learn(route, route.expected_ns);
      }
    }
  }
  for (const auto& of_router : explored) {
    for (const int times : of_router) EXPECT_GT(times, 20);
  }
}

// A device that took a thousand times as long as it was thought to.
TEST(Router, WhatAnExploringCallReallyTookIsPaidBack) {
  DeviceModel twin = host();
  twin.name = "twin";
  Router router({host(), twin});
  double spent = 0;
  double extra = 0;
  for (int call = 0; call < 200'000; ++call) {
    const Route route = router.route(Operation::matmul, 64);
    const bool explores = route.cause == RouteCause::exploring;
    const double whole = explores ? 1000 * route.expected_ns : route.expected_ns;
    spent += whole;
    if (!explores) {
      router.learn(route, route.expected_ns);
      continue;
    }
    extra += whole - route.other_ns;
    router.charge(route, whole);  // it warmed up: the next is expected to be as fast as ever
  }
  EXPECT_GT(extra, 0);
  EXPECT_LE(extra / spent, 0.02);
}

TEST(Router, GoesByTheBytesThatAreMoved) {
  Router router({host(), gpu()}, quiet());
  const MatmulShape thin = {.rows = 4096, .inner = 4096, .columns = 1};
  const double size = size_of(thin);
  EXPECT_NEAR(bytes_of(thin), 67e6, 1e6);
  EXPECT_EQ(router.route(Operation::matmul, size).device, 1u) << "of a square";
  const Route route = router.route(Operation::matmul, size, kHost, bytes_of(thin));
  EXPECT_EQ(route.device, 0u);
  EXPECT_NEAR(*router.expected_ns(Operation::matmul, size, 1, kHost, bytes_of(thin)),
              modelled_ns(gpu(), Operation::matmul, size) +
                  modelled_transfers_of(gpu(), Operation::matmul, bytes_of(thin)),
              1e5);
  EXPECT_NE(router.reason(route).find("8.4 ms of it for transfers"), std::string::npos)
      << router.reason(route);
  DeviceModel small = gpu();
  small.memory_bytes = 32 << 20;
  const Router with_small({host(), small}, quiet());
  EXPECT_FALSE(with_small.expected_ns(Operation::matmul, size, 1, 1, bytes_of(thin)));
  EXPECT_TRUE(with_small.expected_ns(Operation::matmul, size, 1, 1));
}

TEST(Router, RefusesDevicesThatDoNotExist) {
  Router router({host(), gpu()}, quiet());
  EXPECT_THROW(router.route(Operation::add, 5, 2), base::Error);
  EXPECT_THROW(router.expected_ns(Operation::add, 5, 2), base::Error);
  EXPECT_THROW(router.expected_ns(Operation::add, 5, 0, 9), base::Error);
  EXPECT_THROW(router.calibrate(Operation::add, 2, {{1, 1}}), base::Error);
  EXPECT_THROW(router.is_calibrated(Operation::add, 2), base::Error);
  EXPECT_THROW(router.force_by_file(Operation::add, 2), base::Error);
  EXPECT_THROW(router.lose(2), base::Error);
  EXPECT_THROW(router.is_lost(2), base::Error);
  EXPECT_THROW(router.learn_transfer(2, 5, 5), base::Error);
  EXPECT_THROW(router.learn({.device = 2}, 5), base::Error);
  EXPECT_THROW(router.reason({.device = 2}), base::Error);
}

TEST(Router, IsTold) {
  RouterOptions options = quiet();
  options.environment = "matmul=cpu,*=gpu";
  Router router({host(), gpu()}, options);
  EXPECT_EQ(router.route(Operation::matmul, 4096).device, 0u);
  EXPECT_EQ(router.route(Operation::matmul, 4096).cause, RouteCause::told_by_environment);
  EXPECT_EQ(router.route(Operation::xor_words, 5).device, 1u);
  router.force_by_file(Operation::xor_words, 0);
  EXPECT_EQ(router.route(Operation::xor_words, 5).device, 1u) << "environment before file";
  router.force(Operation::xor_words, 0);
  EXPECT_EQ(router.route(Operation::xor_words, 5).cause, RouteCause::told_by_code);
  EXPECT_EQ(router.route(Operation::xor_words, 5).device, 0u);
  router.force(Operation::xor_words, {});
  EXPECT_EQ(router.route(Operation::xor_words, 5).device, 1u);
  EXPECT_THROW(router.force(Operation::xor_words, 7), base::Error);
}

TEST(Router, ABadOrderIsOneLine) {
  const auto problem_of = [](const std::string& environment) -> std::string {
    try {
      Router router({host(), gpu()}, {.environment = environment});
    } catch (const base::Error& error) {
      return error.what();
    }
    return "none";
  };
  const std::string right = ". Write OPERATION=DEVICE, for example matmul=cpu,*=opencl:0";
  EXPECT_EQ(problem_of("matmul"), "FATHOM_ROUTE: 'matmul': no '='" + right);
  EXPECT_EQ(problem_of("matmul=tpu"), "FATHOM_ROUTE: 'matmul=tpu': no such device" + right);
  EXPECT_EQ(problem_of("sort=cpu"), "FATHOM_ROUTE: 'sort=cpu': no such operation" + right);
  EXPECT_EQ(problem_of(""), "none");
}

TEST(Router, GivesItsReasonInOneLine) {
  Router router({host(), gpu()}, quiet());
  EXPECT_EQ(router.reason(router.route(Operation::xor_words, 5)),
            "cpu: 106.1 ns expected; gpu would take 50.0 µs, 30.0 µs of it for transfers");
  router.force(Operation::xor_words, 1);
  EXPECT_EQ(router.reason(router.route(Operation::xor_words, 5)),
            "gpu: the program says so; 50.0 µs expected, cpu would take 106.1 ns");
  router.lose(1);
  EXPECT_EQ(router.reason(router.route(Operation::xor_words, 5)),
            "cpu: 106.1 ns expected; no other device can do it");
}

TEST(Router, ALostDeviceAndOneThatIsTooSmallAreNotChosen) {
  DeviceModel small = gpu();
  small.memory_bytes = 1 << 20;
  Router router({host(), small}, quiet());
  EXPECT_EQ(router.route(Operation::matmul, 256).device, 1u);
  EXPECT_EQ(router.route(Operation::matmul, 4096).device, 0u);
  router.lose(1);
  EXPECT_EQ(router.route(Operation::matmul, 256).device, 0u);
  EXPECT_FALSE(router.expected_ns(Operation::matmul, 256, 1));
  router.lose(kHost);
  EXPECT_FALSE(router.is_lost(kHost)) << "there is always the host";
}

TEST(Router, ThreadsReadWhileOthersLearn) {
  Router router({host(), gpu()});
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&router, thread] {
      for (int i = 1; i < 2000; ++i) {
        const Route route = router.route(Operation::matmul, i);
        if (thread % 2 == 0) router.learn(route, route.expected_ns);
        ASSERT_GT(route.expected_ns, 0);
      }
    });
  }
  threads.clear();
  std::uint64_t calls = 0;
  for (const RouteStatistics& row : router.statistics()) calls += row.calls;
  EXPECT_EQ(calls, 2u * 1999);
}

}  // namespace
}  // namespace fathom::runtime
