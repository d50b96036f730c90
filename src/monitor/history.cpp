#include "monitor/history.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "monitor/reading_fields.h"

namespace fathom::monitor {
namespace {

// A device whose limits change all the time must not fill the memory.
constexpr std::size_t kMostIdentities = 4096;
constexpr std::size_t kMostTriggers = 256;

bool is_same_identity(const GpuDevice& a, const GpuDevice& b) {
  return a.index == b.index && a.uuid == b.uuid && a.pci_address == b.pci_address &&
         a.name == b.name && a.vendor == b.vendor && a.type == b.type && a.driver == b.driver &&
         a.backend == b.backend && a.memory_total_bytes == b.memory_total_bytes &&
         a.power_limit_watts == b.power_limit_watts && a.max_core_clock_hz == b.max_core_clock_hz &&
         a.max_memory_clock_hz == b.max_memory_clock_hz &&
         a.slowdown_celsius == b.slowdown_celsius && a.shutdown_celsius == b.shutdown_celsius;
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

std::uint64_t take_varint(const std::string& in, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; at < in.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in[at++]);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) break;
  }
  return value;
}

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// Rounded, and within what an integer holds, whatever a driver says.
std::int64_t whole(double value) {
  constexpr double kMost = 9e18;
  return std::isnan(value) ? 0 : std::llround(std::clamp(value, -kMost, kMost));
}

void put_device(std::string& out, std::size_t id, const GpuDevice& device) {
  put_varint(out, id);
  put_varint(out, static_cast<std::uint64_t>(device.state));
  // One more than it is, so that 0 is "not known".
  put_varint(out,
             device.age_seconds
                 ? static_cast<std::uint64_t>(whole(std::max(0.0, *device.age_seconds) * 1e3)) + 1
                 : 0);
  const auto fields = reading_fields();
  std::uint64_t known = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].get(device.now)) known |= std::uint64_t{1} << i;
  }
  put_varint(out, known);
  for (const ReadingField& field : fields) {
    const auto value = field.get(device.now);
    if (value) put_varint(out, zigzag(whole(*value * field.steps_per_unit)));
  }
}

GpuDevice take_device(const std::string& in, std::size_t& at, const DeviceTable& table) {
  GpuDevice device = table.identity(take_varint(in, at));
  device.state = static_cast<DeviceState>(take_varint(in, at));
  const std::uint64_t age = take_varint(in, at);
  if (age > 0) device.age_seconds = static_cast<double>(age - 1) / 1e3;
  const std::uint64_t known = take_varint(in, at);
  const auto fields = reading_fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if ((known >> i & 1) == 0) continue;
    const auto steps = static_cast<double>(unzigzag(take_varint(in, at)));
    const double per_unit = fields[i].steps_per_unit;
    // Kilohertz are multiplied and hundredths divided, so that both give the nearest number.
    fields[i].set(device.now, per_unit < 1 ? steps * std::round(1 / per_unit) : steps / per_unit);
  }
  return device;
}

}  // namespace

std::size_t DeviceTable::id_of(const GpuDevice& device) {
  std::size_t of_this_device = identities_.size();
  for (std::size_t id = 0; id < identities_.size(); ++id) {
    if (is_same_identity(identities_[id], device)) return id;
    if (identities_[id].uuid == device.uuid) of_this_device = id;
  }
  if (identities_.size() >= kMostIdentities && of_this_device < identities_.size()) {
    return of_this_device;
  }
  GpuDevice identity = device;
  identity.state = DeviceState::ok;
  identity.now = {};
  identity.age_seconds.reset();
  identity.processes.clear();
  identity.needs_reset = false;
  identity.last_error.reset();
  identities_.push_back(std::move(identity));
  return identities_.size() - 1;
}

std::uint32_t History::trigger_id(const std::string& trigger) {
  auto found = std::ranges::find(triggers_, trigger);
  if (found == triggers_.end()) {
    if (triggers_.size() >= kMostTriggers)
      triggers_.back() = "other";
    else
      triggers_.push_back(trigger);
    found = std::prev(triggers_.end());
  }
  return static_cast<std::uint32_t>(found - triggers_.begin());
}

// The memory of those that go is used again.
CompactSnapshot& History::next_place() {
  if (kept_.size() < most_) return kept_.emplace_back();
  CompactSnapshot& place = kept_[oldest_];
  oldest_ = (oldest_ + 1) % kept_.size();
  return place;
}

void History::add(const Snapshot& snapshot) {
  if (most_ == 0) return;
  if (when_full_ == WhenFull::thin_out) {
    if (offered_++ % stride_ != 0) return;
    if (kept_.size() == most_ && most_ > 1) {
      std::size_t to = 0;
      for (std::size_t from = 0; from < kept_.size(); from += 2) {
        if (to != from) kept_[to] = std::move(kept_[from]);
        ++to;
      }
      kept_.resize(to);
      stride_ *= 2;
      if ((offered_ - 1) % stride_ != 0) return;
    }
  }
  CompactSnapshot& place = next_place();
  place.time_ns = snapshot.time_ns;
  place.trigger = trigger_id(snapshot.trigger);
  place.devices.clear();
  for (const GpuDevice& device : snapshot.devices) {
    put_device(place.devices, table_.id_of(device), device);
  }
  if (place.devices.capacity() > 2 * place.devices.size()) place.devices.shrink_to_fit();
}

std::size_t History::bytes() const {
  std::size_t sum = 0;
  for (const CompactSnapshot& each : kept_) sum += sizeof each + each.devices.capacity();
  return sum;
}

Snapshot History::at(std::size_t place) const {
  const CompactSnapshot& compact = kept_[(oldest_ + place) % kept_.size()];
  Snapshot snapshot{
      .time_ns = compact.time_ns, .trigger = triggers_[compact.trigger], .devices = {}};
  for (std::size_t at = 0; at < compact.devices.size();) {
    snapshot.devices.push_back(take_device(compact.devices, at, table_));
  }
  return snapshot;
}

std::vector<Snapshot> History::last(std::size_t count) const {
  const std::size_t wanted = count == 0 ? kept_.size() : std::min(count, kept_.size());
  std::vector<Snapshot> snapshots;
  snapshots.reserve(wanted);
  for (std::size_t i = kept_.size() - wanted; i < kept_.size(); ++i) snapshots.push_back(at(i));
  return snapshots;
}

}  // namespace fathom::monitor
