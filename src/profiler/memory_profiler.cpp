#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "base/json_writer.h"
#include "profiler/core.h"
#include "profiler/memory_state.h"

namespace fathom {
namespace {

// Scopes that were not known when their memory came have ended since, or stay without a name.
std::unordered_map<std::uint64_t, detail::OperationId> late_scopes(
    const detail::MemoryLog::Owned& owned) {
  std::unordered_map<std::uint64_t, detail::OperationId> known;
  const bool is_needed = std::any_of(owned.begin(), owned.end(),
                                     [](const auto& each) { return each.first.instance != 0; });
  if (!is_needed || detail::global_core() == nullptr) return known;
  for (const auto& scope : detail::global_core()->activities.content().scopes) {
    known[scope.instance] = scope.operation;
  }
  return known;
}

// Takes locks of its own: called with none held.
std::vector<MemoryUse> uses_of(const detail::MemoryLog::Owned& owned) {
  const auto late = late_scopes(owned);
  std::map<std::pair<detail::OperationId, std::uint32_t>, detail::OwnedMemory> by_name;
  for (const auto& [owner, memory] : owned) {
    const auto found = late.find(owner.instance);
    auto& sum = by_name[{found != late.end() ? found->second : owner.operation, owner.call}];
    sum.bytes += memory.bytes;
    sum.blocks += memory.blocks;
  }
  std::vector<MemoryUse> uses;
  for (const auto& [owner, memory] : by_name) {
    const auto& [operation, call] = owner;
    uses.push_back({operation == 0 ? "" : detail::operation_name(operation),
                    call == 0 ? "" : detail::operation_name(call), memory.bytes, memory.blocks});
  }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const MemoryUse& a, const MemoryUse& b) { return a.bytes > b.bytes; });
  return uses;
}

void write_uses(base::JsonWriter& json, const std::vector<MemoryUse>& uses) {
  const auto text = [](const std::string& known) {
    return known.empty() ? std::nullopt : std::optional<std::string_view>(known);
  };
  json.begin_array();
  for (const MemoryUse& use : uses) {
    json.begin_object().key("scope").value(text(use.scope)).key("call").value(text(use.call));
    json.key("allocated_mb").value(use.allocated_mb()).key("blocks").value(use.blocks).end_object();
  }
  json.end_array();
}

void write_timeline(base::JsonWriter& json, const std::vector<MemorySample>& timeline) {
  json.begin_array();
  for (const MemorySample& sample : timeline) {
    json.begin_object().key("time_ms").value(sample.time_ms);
    json.key("allocated_mb").value(sample.allocated_mb);
    json.key("reserved_mb").value(sample.reserved_mb);
    json.key("rss_mb").value(sample.rss_mb).end_object();
  }
  json.end_array();
}

}  // namespace

MemoryTrack::MemoryTrack() noexcept = default;
MemoryTrack::MemoryTrack(std::unique_ptr<detail::MemoryTrackState> state) noexcept
    : state_(std::move(state)) {}
MemoryTrack::MemoryTrack(MemoryTrack&& other) noexcept = default;
MemoryTrack& MemoryTrack::operator=(MemoryTrack&& other) noexcept {
  if (this != &other) {
    end();
    state_ = std::move(other.state_);
  }
  return *this;
}
MemoryTrack::~MemoryTrack() {
  end();
}

void MemoryTrack::end() noexcept {
  if (state_ == nullptr) return;
  state_->scope.end();
  state_->owner->end_track(state_->track, state_->name);
  state_.reset();
}

MemoryProfiler::MemoryProfiler(const MemoryOptions& options)
    : state_(std::make_shared<detail::MemoryState>(options)) {}

MemoryProfiler::~MemoryProfiler() {
  state_->stop();
}

void MemoryProfiler::start() noexcept {
  state_->start();
}

void MemoryProfiler::stop() noexcept {
  state_->stop();
}

MemoryTrack MemoryProfiler::track(std::string_view name) noexcept {
  try {
    auto made = std::make_unique<detail::MemoryTrackState>();
    made->owner = state_;
    made->name = name;
    made->track = state_->begin_track();
    if (made->track == nullptr) return {};
    made->scope = profiler().profile(name);
    return MemoryTrack(std::move(made));
  } catch (...) {
    return {};
  }
}

std::vector<MemorySample> MemoryProfiler::timeline() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<MemorySample> samples;
  for (const detail::MemoryPoint& point : state_->log.timeline()) {
    samples.push_back({ms_of(point.time_ns - state_->start_ns), mb_of(point.allocated),
                       mb_of(point.reserved), mb_of(point.rss)});
  }
  return samples;
}

MemoryPeak MemoryProfiler::peak() const {
  MemoryPeak made;
  detail::MemoryLog::Owned alive;
  {
    const std::lock_guard lock(state_->mutex);
    const detail::MemoryLog& log = state_->log;
    made.peak_rss_mb = mb_of(log.peak_rss());
    if (log.peak().allocated == 0) return made;
    made.peak_allocated_mb = mb_of(log.peak().allocated);
    made.peak_time_ms = ms_of(log.peak().time_ns - state_->start_ns);
    alive = log.at_peak();
  }
  made.alive = uses_of(alive);
  return made;
}

std::vector<MemoryUse> MemoryProfiler::leaks() const {
  detail::MemoryLog::Owned alive;
  {
    const std::lock_guard lock(state_->mutex);
    alive = state_->log.alive();
  }
  return uses_of(alive);
}

std::vector<TrackedMemory> MemoryProfiler::tracked() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<TrackedMemory> all;
  for (const auto& [name, of] : state_->tracked) {
    all.push_back({name, of.count, mb_of(of.change), mb_of(of.highest), mb_of(of.rss_change)});
  }
  return all;
}

void MemoryProfiler::export_json(const std::string& path) const {
  const MemoryPeak most = peak();
  std::string out;
  base::JsonWriter json(out);
  json.begin_object().key("fathom").value(FATHOM_VERSION);
  json.key("sample_interval_ms").value(state_->options.sample_interval_ms);
  json.key("peak_allocated_mb").value(most.peak_allocated_mb);
  json.key("peak_time_ms").value(most.peak_time_ms);
  json.key("peak_rss_mb").value(most.peak_rss_mb);
  write_uses(json.key("at_peak"), most.alive);
  write_uses(json.key("leaks"), leaks());
  json.key("tracked").begin_array();
  for (const TrackedMemory& of : tracked()) {
    json.begin_object().key("name").value(of.name).key("count").value(of.count);
    json.key("change_mb").value(of.change_mb).key("peak_mb").value(of.peak_mb);
    json.key("rss_change_mb").value(of.rss_change_mb).end_object();
  }
  json.end_array();
  write_timeline(json.key("timeline"), timeline());
  json.end_object();
  out += '\n';
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wbe"),
                                                             std::fclose);
  const bool is_written = file != nullptr &&
                          std::fwrite(out.data(), 1, out.size(), file.get()) == out.size() &&
                          std::fflush(file.get()) == 0;
  if (!is_written) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace fathom
