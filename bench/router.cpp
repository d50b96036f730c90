// What a decision of the router costs, against one look-up in a hash table, which is the least that
// an answer from a table of what was measured could cost.
#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <thread>
#include <unordered_map>
#include <vector>

#include "fathom/router.h"
#include "runtime/work.h"

namespace {

using fathom::Operation;
using fathom::Router;

constexpr int kCalls = 200'000;
constexpr int kRounds = 21;

// Processor time of all threads: the machine may be shared.
double cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

template <typename Call>
double ns_per_call(int threads, const Call& call) {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const auto work = [&] {
      for (int i = 0; i < kCalls; ++i) call(i);
    };
    const double begin = cpu_ns();
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(work);
    work();
    others.clear();
    rounds.push_back((cpu_ns() - begin) / kCalls / threads);
  }
  return *std::ranges::min_element(rounds);
}

template <typename T>
void keep(const T& value) {
  asm volatile("" ::"m"(value) : "memory");
}

}  // namespace

int main() {
  fathom::DeviceModel gpu = fathom::runtime::default_device("gpu", false);
  Router router({fathom::runtime::default_cpu(), gpu});
  std::unordered_map<std::uint64_t, double> table;
  for (std::uint64_t i = 0; i < 64 * fathom::kOperations; ++i) table[i * 7] = 1;

  const auto look_up = [&](int i) {
    keep(table.find(static_cast<std::uint64_t>(i % 512) * 7)->second);
  };
  const auto decide = [&](int i) { keep(router.route(Operation::matmul, 1 + i % 4096)); };
  const auto decide_and_learn = [&](int i) {
    const auto route = router.route(Operation::add, 1 + i % 4096);
    router.learn(route, route.expected_ns);
  };
  for (const int threads : {1, 2}) {
    const double floor = ns_per_call(threads, look_up);
    const double ours = ns_per_call(threads, decide);
    fmt::print(
        "router decision, {} thread(s): {:.1f} ns, floor {:.1f} ns, ratio {:.1f} (limit 100 ns)\n",
        threads, ours, floor, ours / floor);
  }
  fmt::print("router decision and learning, 1 thread: {:.1f} ns\n",
             ns_per_call(1, decide_and_learn));
  const auto route = router.route(Operation::matmul, 1024);
  fmt::print("reason in words: {:.0f} ns\n", ns_per_call(1, [&](int i) {
                                               if (i % 100 == 0) keep(router.reason(route));
                                             }) * 100);
}
