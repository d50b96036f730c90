#include "fathom/router.h"

#include <gtest/gtest.h>

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
    for (DeviceIndex index = 0; index < 2; ++index) {  // as tune measures: two octaves apart
      std::vector<CallTime> calls;
      for (double size = 4; size <= 4096; size *= 4) {
        calls.push_back({size, modelled_ns(router.devices()[index], Operation::matmul, size)});
      }
      router.calibrate(Operation::matmul, index, calls);
    }
    double true_size = 1;
    while (truth(host(), Operation::matmul, true_size) <
           truth(device, Operation::matmul, true_size)) {
      true_size *= 1.01;
    }
    double found = 1;
    while (router.route(Operation::matmul, found).device == 0) found *= 1.01;
    EXPECT_NEAR(found / true_size, 1, 0.1);
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
