#include "runtime/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fathom/memory_pool.h"
#include "runtime/work.h"

namespace fathom::runtime {
namespace {

constexpr std::size_t kMostTuneBytes = 96 << 20;
constexpr int kMostRepeats = 15;
constexpr int kLeastRepeats = 3;
constexpr double kLongCallNs = 1e8;  // sizes end here

// Memory of a device for the time of a measurement.
class Room {
 public:
  Room(Device& device, std::size_t bytes) : device_(device), segment_(device.allocate(bytes)) {}
  ~Room() {
    if (segment_ != nullptr) device_.release(segment_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  Place place() const { return {segment_, 0}; }
  bool is_there() const { return segment_ != nullptr; }

 private:
  Device& device_;
  void* segment_;
};

// A grid whose nodes have four neighbours, with about so many edges.
struct Grid {
  explicit Grid(double edges) {
    const auto edge = static_cast<std::uint32_t>(std::max(2.0, std::sqrt(edges / 4)));
    offsets.push_back(0);
    for (std::uint32_t y = 0; y < edge; ++y) {
      for (std::uint32_t x = 0; x < edge; ++x) {
        const std::uint32_t node = y * edge + x;
        if (x > 0) targets.push_back(node - 1);
        if (x + 1 < edge) targets.push_back(node + 1);
        if (y > 0) targets.push_back(node - edge);
        if (y + 1 < edge) targets.push_back(node + edge);
        offsets.push_back(static_cast<std::uint32_t>(targets.size()));
      }
    }
  }
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> targets;
};

double median_of(std::vector<double>& times) {
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

// Warm first; as often as the time allows.
double median_ns(Clock& clock, double seconds, const std::function<void()>& call) {
  call();
  std::vector<double> times;
  const std::int64_t begin = clock.now_ns();
  while (times.size() < kMostRepeats) {
    const std::int64_t before = clock.now_ns();
    call();
    const std::int64_t now = clock.now_ns();
    times.push_back(static_cast<double>(now - before));
    if (times.size() >= kLeastRepeats && static_cast<double>(now - begin) > seconds * 1e9) break;
  }
  return median_of(times);
}

// One size: nothing where the device has no room for it.
std::optional<CallTime> measure_size(Device& device, Clock& clock, Operation operation, double size,
                                     double seconds) {
  if (operation == Operation::graph_search) {
    const Grid grid(size);
    const Room offsets(device, grid.offsets.size() * 4);
    const Room targets(device, grid.targets.size() * 4);
    const Room distances(device, grid.offsets.size() * 4);
    if (!offsets.is_there() || !targets.is_there() || !distances.is_there()) return std::nullopt;
    device.write(offsets.place(), grid.offsets.data(), grid.offsets.size() * 4);
    device.write(targets.place(), grid.targets.data(), grid.targets.size() * 4);
    const GraphPlaces places = {offsets.place(), targets.place(), grid.offsets.size() - 1,
                                grid.targets.size()};
    const double ns =
        median_ns(clock, seconds, [&] { device.graph_search(places, 0, distances.place()); });
    return CallTime{static_cast<double>(grid.targets.size()), ns};
  }
  const auto edge = static_cast<std::size_t>(size);
  const std::size_t elements = operation == Operation::matmul ? edge * edge : edge;
  const Room out(device, elements * 4);
  const Room a(device, elements * 4);
  const Room b(device, elements * 4);
  if (!out.is_there() || !a.is_there() || !b.is_there()) return std::nullopt;
  const std::vector<float> ones(elements, 1.0f);
  device.write(a.place(), ones.data(), elements * 4);
  device.write(b.place(), ones.data(), elements * 4);
  const MatmulShape shape = {.rows = edge, .inner = edge, .columns = edge};
  const auto call = [&] {
    switch (operation) {
      case Operation::matmul:
        return device.matmul(shape, out.place(), a.place(), b.place());
      case Operation::xor_words:
        return device.xor_words(out.place(), a.place(), b.place(), elements);
      case Operation::reduce:
        device.reduce(a.place(), elements);
        return;
      default:
        device.elementwise(operation, 2, out.place(), a.place(), b.place(), elements);
    }
  };
  return CallTime{size, median_ns(clock, seconds, call)};
}

// Some drivers notice only at the first use that there is no room.
std::optional<CallTime> measure_where_there_is_room(Device& device, Clock& clock,
                                                    Operation operation, double size,
                                                    double seconds) {
  try {
    return measure_size(device, clock, operation, size, seconds);
  } catch (const OutOfMemory&) {
    return std::nullopt;
  }
}

std::vector<double> sizes_of(Operation operation) {
  std::vector<double> sizes;
  const double step = operation == Operation::matmul ? 2 : 4;
  const double first = operation == Operation::matmul         ? 4
                       : operation == Operation::graph_search ? 16
                                                              : 1;
  for (double size = first; bytes_touched(operation, size) <= kMostTuneBytes; size *= step) {
    sizes.push_back(size);
  }
  return sizes;
}

DeviceModel& entry(MachineProfile& profile, const DeviceModel& model) {
  const auto found = std::ranges::find(profile.devices, model.name, &DeviceModel::name);
  if (found != profile.devices.end()) return *found;
  return profile.devices.emplace_back(model);
}

// What was measured of another device that had this one's name.
void forget_another(MachineProfile& profile, const Device& device) {
  DeviceModel now = device.model();
  now.description = device.description();
  const auto is_another = [&](const DeviceModel& measured) {
    return measured.name == now.name && !is_same(measured, now);
  };
  if (std::ranges::none_of(profile.devices, is_another)) return;
  std::erase_if(profile.devices, is_another);
  std::erase_if(profile.curves, [&](const ProfileCurve& own) { return own.device == now.name; });
}

// What was measured before, where that may be used.
MachineProfile begin_with(const TuneOptions& options) {
  MachineProfile profile;
  if (!options.begins_anew) {
    if (auto old = machine_profile_or_why_not(options.path, "All is measured anew"))
      profile = std::move(*old);
  }
  profile.machine = machine_name();
  return profile;
}

}  // namespace

std::vector<CallTime> measure_curve(Device& device, Clock& clock, Operation operation,
                                    double seconds) {
  std::vector<CallTime> calls;
  const std::vector<double> sizes = sizes_of(operation);
  const double each = seconds / static_cast<double>(sizes.size());
  const std::int64_t begin = clock.now_ns();
  for (const double size : sizes) {
    const auto call = measure_where_there_is_room(device, clock, operation, size, each);
    if (!call) break;
    if (call->ns > 0) calls.push_back(*call);
    const bool is_over = static_cast<double>(clock.now_ns() - begin) > seconds * 1e9;
    if (call->ns > kLongCallNs || (is_over && calls.size() >= 5)) break;
  }
  return calls;
}

double measure_call(Device& device, Clock& clock, Operation operation, double size) {
  const auto call = measure_size(device, clock, operation, size, 0);
  return call ? call->ns : 0;
}

DeviceModel measure_model(Device& device, Clock& clock) {
  DeviceModel model = device.model();
  model.description = device.description();
  constexpr std::size_t kSmall = 64;
  constexpr std::size_t kLarge = 8 << 20;
  constexpr double kSeconds = 0.05;
  const Room room(device, kLarge);
  if (!room.is_there()) return model;
  std::vector<char> data(kLarge, 1);
  model.launch_ns = median_ns(
      clock, kSeconds, [&] { device.xor_words(room.place(), room.place(), room.place(), 1); });
  if (model.shares_host_memory) return model;
  const auto both_ways = [&](std::size_t bytes) {
    return median_ns(clock, kSeconds,
                     [&] {
                       device.write(room.place(), data.data(), bytes);
                       device.read(data.data(), room.place(), bytes);
                     }) /
           2;
  };
  const double small = both_ways(kSmall);
  const double large = both_ways(kLarge);
  model.link_latency_ns = small;
  if (large > small) {
    model.link_bytes_per_second = static_cast<double>(kLarge - kSmall) / (large - small) * 1e9;
  }
  return model;
}

MachineProfile tune(const std::vector<std::unique_ptr<Device>>& devices, Clock& clock,
                    const TuneOptions& options) {
  MachineProfile profile = begin_with(options);
  TuneStep step;
  step.all = devices.size() * kOperations;
  for (const auto& device : devices) {
    const std::string& name = device->model().name;
    forget_another(profile, *device);
    const bool is_new =
        std::ranges::find(profile.devices, name, &DeviceModel::name) == profile.devices.end();
    try {
      if (is_new) entry(profile, device->model()) = measure_model(*device, clock);
      for (std::size_t i = 0; i < kOperations; ++i, ++step.done) {
        const auto operation = static_cast<Operation>(i);
        step.what = fmt::format("{} on {}", name_of(operation), name);
        if (options.progress) options.progress(step);
        if (profile.curve(operation, name) != nullptr) continue;
        auto calls = measure_curve(*device, clock, operation, options.seconds_per_curve);
        if (calls.empty()) continue;
        profile.curves.push_back({operation, name, std::move(calls)});
        if (!options.path.empty()) write_machine_profile(options.path, profile);
      }
    } catch (const DeviceLost&) {
      std::erase_if(profile.curves, [&](const ProfileCurve& own) { return own.device == name; });
      std::erase_if(profile.devices, [&](const DeviceModel& own) { return own.name == name; });
    }
  }
  if (!options.path.empty()) write_machine_profile(options.path, profile);
  return profile;
}

}  // namespace fathom::runtime
