#include "devices/demo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace fathom::devices {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

// Even numbers from 0 to 1 without order, by the finalizer of SplitMix64.
double scattered(std::uint64_t seed, std::int64_t place) {
  std::uint64_t x = seed * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(place);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((x ^ (x >> 31)) >> 11) / static_cast<double>(1ULL << 53);
}

// A smooth line through scattered values, one every `period` seconds.
double wander(std::uint64_t seed, double time, double period) {
  const double place = time / period;
  const auto before = static_cast<std::int64_t>(std::floor(place));
  const double part = place - static_cast<double>(before);
  const double ease = part * part * (3 - 2 * part);
  return std::lerp(scattered(seed, before), scattered(seed, before + 1), ease);
}

// 0 to 1 and back: up within a few seconds of `begin`, down after `length`; every `period` seconds.
double episode(double time, double begin, double length, double period) {
  const double into = std::fmod(std::max(0.0, time - begin), period);
  if (time < begin || into > length + 25) return 0;
  const double up = std::min(1.0, into / 12);
  const double down = into > length ? 1 - (into - length) / 25 : 1;
  return std::min(up, down);
}

// What a demo GPU is for. The first trains, the second answers requests.
struct Model {
  const char* name;
  std::uint64_t salt;
  double memory_bytes;
  double idle_watts, limit_watts;
  double core_hz, memory_hz;
  double base_load, load_swing;      // percent
  double base_memory, memory_swing;  // share of all
  double trouble_begins;             // seconds after the start: its fan fails for a while
};

constexpr std::array kModels = {
    Model{"Demo GPU 0 (training)", 11, 80 * kGib, 62, 400, 1.41e9, 1.593e9, 78, 20, 0.55, 0.14, 45},
    Model{"Demo GPU 1 (serving)", 23, 24 * kGib, 22, 300, 1.695e9, 6.251e9, 28, 60, 0.52, 0.36,
          170},
};
constexpr double kTroubleSeconds = 50;
constexpr double kTroublePeriod = 240;
constexpr double kSlowdownCelsius = 92;

double load_percent(const Model& model, std::uint64_t seed, double time) {
  const double slow = wander(seed + model.salt, time, 9);
  const double quick = wander(seed + model.salt + 1, time, 1.7);
  // Between epochs, or requests, it waits for a moment.
  const double pause = wander(seed + model.salt + 2, time, 14) > 0.86 ? 0.15 : 1.0;
  const double load = model.base_load + model.load_swing * (0.75 * slow + 0.25 * quick);
  return std::clamp(load * pause, 0.0, 100.0);
}

// Follows the load of the last minute, as a heat sink does.
double degrees(const Model& model, std::uint64_t seed, double time, double trouble) {
  double heat = 0;
  double weights = 0;
  for (int i = 0; i < 20; ++i) {
    const double weight = std::exp(-i / 6.0);
    heat += weight * load_percent(model, seed, time - 3.0 * i);
    weights += weight;
  }
  return 34 + 0.38 * heat / weights + 22 * trouble;
}

GpuProcess program(std::int64_t pid, const char* name, const char* command, double bytes,
                   double percent) {
  return {.pid = pid,
          .start_ticks = 100'000 + static_cast<std::uint64_t>(pid),
          .name = name,
          .command = command,
          .memory_bytes = static_cast<std::int64_t>(bytes),
          .utilization_percent = std::round(percent)};
}

std::vector<GpuProcess> programs(std::size_t gpu, double used_bytes, double load, double time) {
  if (gpu == 1) {
    return {program(5210, "demo-server", "demo-server --model demo-7b --port 8000",
                    used_bytes * 0.93, load),
            program(5344, "demo-desktop", "demo-desktop", used_bytes * 0.07, 1)};
  }
  std::vector<GpuProcess> all;
  const bool evaluates = std::fmod(time, 90) > 55;
  all.push_back(program(4101, "python3", "python3 demo_train.py --epochs 90",
                        used_bytes * (evaluates ? 0.8 : 0.98), load * (evaluates ? 0.8 : 1)));
  if (evaluates) {
    all.push_back(program(4420 + static_cast<std::int64_t>(time / 90), "python3",
                          "python3 demo_evaluate.py", used_bytes * 0.18, load * 0.2));
  }
  return all;
}

GpuDevice demo_device(std::size_t number, std::uint64_t seed, double time) {
  const Model& model = kModels[number];
  const double trouble = episode(time, model.trouble_begins, kTroubleSeconds, kTroublePeriod);
  const double load = load_percent(model, seed, time);
  const double celsius = degrees(model, seed, time, trouble);
  const bool is_hot = celsius > kSlowdownCelsius - 4;
  const double clock_share = is_hot ? 0.72 : 0.55 + 0.45 * std::min(1.0, load / 40);
  const double watts =
      model.idle_watts + (model.limit_watts - model.idle_watts) * load / 100 * clock_share;
  const double used =
      model.memory_bytes * (model.base_memory + model.memory_swing * wander(seed + 5, time, 40));
  const double reserved = 0.01 * model.memory_bytes;

  GpuDevice device{.index = static_cast<unsigned>(number),
                   .uuid = fmt::format("demo-{}-{}", seed, number),
                   .pci_address = {},
                   .name = model.name,
                   .vendor = "Demo",
                   .type = "gpu",
                   .driver = "demo",
                   .backend = "demo"};
  device.memory_total_bytes = static_cast<std::int64_t>(model.memory_bytes);
  device.power_limit_watts = model.limit_watts;
  device.max_core_clock_hz = model.core_hz;
  device.max_memory_clock_hz = model.memory_hz;
  device.slowdown_celsius = kSlowdownCelsius;
  device.shutdown_celsius = kSlowdownCelsius + 5;
  GpuReading& now = device.now;
  now.memory_used_bytes = static_cast<std::int64_t>(used);
  now.memory_reserved_bytes = static_cast<std::int64_t>(reserved);
  now.memory_free_bytes = static_cast<std::int64_t>(model.memory_bytes - used - reserved);
  now.utilization_percent = std::round(load);
  now.memory_utilization_percent = std::round(load * (0.45 + 0.2 * wander(seed + 7, time, 5)));
  now.encoder_percent = 0;
  now.decoder_percent = number == 1 ? std::round(load * 0.1) : 0;
  now.temperature_celsius = std::round(celsius);
  now.memory_temperature_celsius = std::round(celsius + 6);
  now.power_watts = std::round(10 * watts) / 10;
  // All it used if every second was like the mean of its model.
  now.energy_joules = time * (model.idle_watts + 0.5 * (model.limit_watts - model.idle_watts));
  now.core_clock_hz = std::round(model.core_hz * clock_share / 1e6) * 1e6;
  now.memory_clock_hz = model.memory_hz;
  now.fan_percent = trouble > 0.5 ? 4 : std::round(std::clamp(1.6 * (celsius - 34), 20.0, 100.0));
  now.throttle = 0;
  if (is_hot) *now.throttle |= static_cast<std::uint32_t>(ThrottleReason::software_thermal);
  if (watts > 0.97 * model.limit_watts) {
    *now.throttle |= static_cast<std::uint32_t>(ThrottleReason::power_cap);
  }
  if (load < 2) *now.throttle |= static_cast<std::uint32_t>(ThrottleReason::idle);
  now.ecc_corrected = static_cast<std::uint64_t>(time / 400);
  now.ecc_uncorrected = 0;
  device.processes = programs(number, used, load, time);
  return device;
}

class DemoBackend : public Backend {
 public:
  explicit DemoBackend(unsigned seed) : seed_(seed) {}

  const char* name() const override { return "demo"; }

  Look look(const Wanted& wanted, bool) override {
    const double elapsed = std::chrono::duration<double>(Clock::now() - began_).count();
    Look look{.devices = demo_devices(seed_, elapsed), .errors = {}};
    for (GpuDevice& device : look.devices) {
      if (!wanted.processes) device.processes.clear();
    }
    // An error every ten minutes: a program touched memory that was not its own.
    const auto errors_so_far = static_cast<std::uint64_t>((elapsed + 480) / 600);
    if (errors_so_far > errors_told_) {
      errors_told_ = errors_so_far;
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      look.errors.push_back({look.devices.back().uuid,
                             std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
                             31});
    }
    return look;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const unsigned seed_;
  const Clock::time_point began_ = Clock::now();
  std::uint64_t errors_told_ = 0;
};

}  // namespace

std::vector<GpuDevice> demo_devices(unsigned seed, double elapsed_seconds) {
  std::vector<GpuDevice> devices;
  for (std::size_t i = 0; i < kModels.size(); ++i) {
    devices.push_back(demo_device(i, seed, elapsed_seconds));
  }
  return devices;
}

std::unique_ptr<Backend> demo_backend(unsigned seed) {
  return std::make_unique<DemoBackend>(seed);
}

}  // namespace fathom::devices
