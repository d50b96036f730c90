// Time lost against whoever always knows the fastest device, over a sweep of operations and sizes:
// the router, always the CPU, always the GPU, and a fixed threshold of 1,000 elements. On this
// machine's CPU and OpenCL device the times are measured here; on simulated devices they are
// modelled.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>

#include "fathom/router.h"
#include "runtime/device.h"
#include "runtime/opencl/opencl.h"
#include "runtime/tune.h"
#include "runtime/work.h"

namespace {

using namespace fathom;
using runtime::Device;

struct Job {
  Operation operation;
  double size;
  double transfer_ns[2] = {};           // to and from each of the two devices
  std::vector<double> samples[2] = {};  // on each
  double typical(int device) const {
    std::vector<double> sorted = samples[device];
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2] + transfer_ns[device];
  }
};

// What the host's data of a job take to a device and back, by a clock: the operands are written,
// and the result is read.
double measured_transfers_ns(Device& device, Operation operation, double size) {
  if (device.model().shares_host_memory) return 0;
  const auto in = static_cast<std::size_t>(runtime::bytes_in(operation, size));
  const auto out = static_cast<std::size_t>(runtime::bytes_out(operation, size));
  const std::size_t operands =
      operation == Operation::relu || operation == Operation::reduce ? 1 : 2;
  const std::size_t each = std::max<std::size_t>(in / operands, 4);
  std::vector<char> data(std::max(each, out), 1);
  void* const room = device.allocate(data.size());
  std::vector<double> times;
  for (int round = 0; round < 9; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < operands; ++i) device.write({room, 0}, data.data(), each);
    if (out != 0) device.read(data.data(), {room, 0}, out);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    times.push_back(took.count());
  }
  device.release(room);
  std::ranges::sort(times);
  return times[times.size() / 2];
}

using Choose = std::function<DeviceIndex(const Job&)>;
using Learn = std::function<void(const Job&, DeviceIndex, double ns)>;

// Rounds over all jobs in random order; the time of a call is one that was measured.
double regret(const std::vector<Job>& jobs, int rounds, double slowness, const Choose& choose,
              const Learn& learn = {}, int first_counted = 0) {
  std::mt19937 random(1);
  std::vector<std::size_t> order(jobs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  double taken = 0;
  double best = 0;
  int call = 0;
  for (int round = 0; round < rounds; ++round) {
    std::ranges::shuffle(order, random);
    for (const std::size_t index : order) {
      const Job& job = jobs[index];
      const DeviceIndex device = choose(job);
      const auto& samples = job.samples[device];
      const double slow = device == 1 ? slowness : 1;
      const double ns = samples[random() % samples.size()] * slow;
      if (learn) learn(job, device, ns);
      if (call++ < first_counted) continue;
      const auto typical = [&](int on) {
        return (job.typical(on) - job.transfer_ns[on]) * (on == 1 ? slowness : 1) +
               job.transfer_ns[on];
      };
      taken += typical(static_cast<int>(device));
      best += std::min(typical(0), typical(1));
    }
  }
  return 100 * (taken / best - 1);
}

struct Machine {
  std::string name;
  std::vector<DeviceModel> models;
  std::vector<Job> jobs;
  std::vector<std::vector<std::vector<CallTime>>> curves;  // by device, operation
};

void show(const Machine& machine) {
  Router router(machine.models);
  for (DeviceIndex device = 0; device < 2; ++device) {
    for (std::size_t i = 0; i < kOperations; ++i) {
      if (machine.curves[device][i].empty()) continue;
      router.calibrate(static_cast<Operation>(i), device, machine.curves[device][i]);
    }
  }
  Route last;
  const Choose by_router = [&](const Job& job) {
    last = router.route(job.operation, job.size);
    return last.device;
  };
  const Learn learn = [&](const Job& job, DeviceIndex device, double ns) {
    router.learn(last, ns, ns + job.transfer_ns[device]);
    // As of one transfer: the router is told how the link compares with what it takes it for.
    const double expected =
        runtime::modelled_transfers_ns(machine.models[device], job.operation, job.size);
    const auto bytes = static_cast<std::size_t>(runtime::bytes_touched(job.operation, job.size));
    if (expected > 0) {
      const double one =
          runtime::modelled_transfer_ns(machine.models[device], static_cast<double>(bytes));
      router.learn_transfer(device, bytes, one * job.transfer_ns[device] / expected);
    }
  };
  const Choose cpu = [](const Job&) { return DeviceIndex{0}; };
  const Choose gpu = [](const Job&) { return DeviceIndex{1}; };
  const Choose threshold = [](const Job& job) {
    const double elements = job.operation == Operation::matmul ? job.size * job.size : job.size;
    return DeviceIndex{elements < 1000 ? 0u : 1u};
  };
  fmt::print(
      "regret {}: router {:.2f} % (limit 5 %), always CPU {:.0f} %, always GPU {:.0f} %, "
      "threshold of 1,000 elements {:.0f} %\n",
      machine.name, regret(machine.jobs, 20, 1, by_router, learn), regret(machine.jobs, 1, 1, cpu),
      regret(machine.jobs, 1, 1, gpu), regret(machine.jobs, 1, 1, threshold));
  fmt::print(
      "regret {} 5 times slower, from the 50th call on: router {:.2f} % (limit 10 %), always "
      "CPU {:.0f} %, always GPU {:.0f} %, threshold {:.0f} %\n",
      machine.name, regret(machine.jobs, 20, 5, by_router, learn, 50),
      regret(machine.jobs, 1, 5, cpu), regret(machine.jobs, 1, 5, gpu),
      regret(machine.jobs, 1, 5, threshold));
}

std::vector<std::pair<Operation, std::vector<double>>> sweep() {
  return {{Operation::xor_words, {5, 1000, 100'000, 3e6}},
          {Operation::matmul, {8, 32, 100, 200, 400}},
          {Operation::add, {100, 10'000, 1e6}},
          {Operation::saxpy, {1000, 300'000}},
          {Operation::reduce, {10, 50'000, 2e6}},
          {Operation::graph_search, {200, 40'000}}};
}

Machine measured(Device& cpu, Device& other) {
  runtime::RealClock clock;
  Machine machine;
  machine.name = fmt::format("cpu and {}", other.description());
  for (Device* const device : {&cpu, &other}) {
    machine.models.push_back(runtime::measure_model(*device, clock));
    auto& curves = machine.curves.emplace_back();
    for (std::size_t i = 0; i < kOperations; ++i) {
      curves.push_back(runtime::measure_curve(*device, clock, static_cast<Operation>(i), 0.3));
    }
  }
  // Between the sizes that were calibrated, measured apart from them.
  for (const auto& [operation, sizes] : sweep()) {
    for (const double size : sizes) {
      Job job = {.operation = operation, .size = size};
      for (int device = 0; device < 2; ++device) {
        Device& on = device == 0 ? cpu : other;
        job.transfer_ns[device] = measured_transfers_ns(on, operation, size);
        for (int i = 0; i < 5; ++i) {
          job.samples[device].push_back(runtime::measure_call(on, clock, operation, size));
        }
      }
      machine.jobs.push_back(std::move(job));
    }
  }
  return machine;
}

Machine simulated(const std::string& name, const DeviceModel& gpu) {
  runtime::VirtualClock clock;
  DeviceModel host = runtime::default_cpu();
  Machine machine;
  machine.name = name;
  machine.models = {host, gpu};
  // The link is not what the router takes it for: it is told half the speed and latency.
  machine.models[1].link_bytes_per_second /= 2;
  machine.models[1].link_latency_ns *= 2;
  std::mt19937 random(2);
  const auto noisy = [&](double ns) {
    return ns * std::exp(std::normal_distribution<double>(0, 0.1)(random));
  };
  for (const DeviceModel& model : machine.models) {
    auto& curves = machine.curves.emplace_back(kOperations);
    for (std::size_t i = 0; i < kOperations; ++i) {
      for (double size = 4; size < 3e7; size *= 4) {
        if (i == static_cast<std::size_t>(Operation::matmul) && size > 2000) break;
        curves[i].push_back(
            {size, noisy(runtime::modelled_ns(model, static_cast<Operation>(i), size))});
      }
    }
  }
  for (const auto& [operation, sizes] : sweep()) {
    for (const double size : sizes) {
      Job job = {.operation = operation, .size = size};
      for (int device = 0; device < 2; ++device) {
        const DeviceModel& model = device == 0 ? host : gpu;
        job.transfer_ns[device] = runtime::modelled_transfers_ns(model, operation, size);
        for (int i = 0; i < 9; ++i) {
          job.samples[device].push_back(noisy(runtime::modelled_ns(model, operation, size)));
        }
      }
      machine.jobs.push_back(std::move(job));
    }
  }
  return machine;
}

}  // namespace

int main() {
  const auto cpu = runtime::cpu_device();
  const auto others = runtime::opencl_devices();
  if (!others.empty()) show(measured(*cpu, *others[0]));
  DeviceModel desktop = runtime::default_device("desktop", false);
  show(simulated("simulated desktop GPU", desktop));
  DeviceModel server = desktop;
  server.launch_ns = 5'000;
  server.link_latency_ns = 5'000;
  server.link_bytes_per_second = 5e10;
  server.flops_per_second = 6e13;
  server.memory_bytes_per_second = 2e12;
  show(simulated("simulated server GPU", server));
  DeviceModel shared = desktop;
  shared.launch_ns = 15'000;
  shared.link_latency_ns = 2'000;
  shared.link_bytes_per_second = 2e10;
  shared.flops_per_second = 4e11;
  shared.memory_bytes_per_second = 3e10;
  show(simulated("simulated integrated GPU", shared));
}
