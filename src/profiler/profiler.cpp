#include "fathom/profiler.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include "base/terminal.h"
#include "profiler/annotations.h"
#include "profiler/clock.h"
#include "profiler/core.h"
#include "profiler/free_scope.h"
#include "profiler/memory_state.h"
#include "profiler/spans.h"
#include "profiler/summary.h"

namespace fathom {
namespace detail {
namespace {

std::string annotations_of(const ScopeOptions& options) {
  std::string out;
  if (options.device != "cpu") append_annotation(out, {"device", options.device});
  if (!options.backend.empty()) {
    append_annotation(out, {"backend", options.backend});
  } else if (options.device != "cpu") {
    append_annotation(out, {"backend", ""});
  }
  if (options.size) append_annotation(out, {"size", *options.size});
  for (const Attribute& attribute : options.attributes) append_annotation(out, attribute);
  return out;
}

OperationId operation_on(ThreadState& thread, std::string_view name) {
  std::string key(name);
  if (const auto known = thread.names.find(key); known != thread.names.end()) return known->second;
  const OperationId operation = operation_id(name);
  if (thread.names.size() > kMaxOperations) thread.names.clear();
  thread.names.emplace(std::move(key), operation);
  return operation;
}

// From the innermost outwards: the first one looked at is mostly it.
void forget(ThreadState& thread, const FreeScope& scope) noexcept {
  auto& all = thread.free_scopes;
  for (std::size_t i = all.size(); i-- > 0;) {
    if (all[i].get() != &scope) continue;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

// In the words of the thread that ended it, for a run file whose process is gone before the scope's
// own thread has closed it.
void tell_recording(const EndedElsewhere& scope) noexcept {
  Core& core = *global_core();
  ThreadState* const thread = core.recording() ? core.thread() : nullptr;
  if (thread == nullptr || core.generation() == 0) return;
  if (core.generation() != thread->seen) core.adopt(*thread);
  push_ended(*thread, scope);
}

// On a thread that did not begin it, or that has the number of one that is gone.
void end_elsewhere(FreeScope& scope) {
  const std::uint64_t end = ticks();
  EndedElsewhere told;
  {
    const std::lock_guard lock(live_scopes());
    ThreadState& thread = *scope.open.thread;
    switch (scope.keeper.load()) {
      case FreeScope::Keeper::thread:
        scope.end = end;
        scope.keeper.store(FreeScope::Keeper::closing, std::memory_order_release);
        thread.abandoned.fetch_add(1);
        call_to_slow_path(thread);
        if (thread.core != global_core().get() || scope.open.operation == 0) return;
        told = {thread.number, scope.open.operation, scope.open.start, end};
        break;
      case FreeScope::Keeper::anyone:
        end_scope(scope.open, end, scope.annotations, scope.failed);
        forget(thread, scope);
        if (thread.free_scopes.empty()) retire_ownerless(thread);
        return;
      case FreeScope::Keeper::closing:
      case FreeScope::Keeper::nobody:
        return;
    }
  }
  tell_recording(told);
}

}  // namespace

void close_abandoned(ThreadState& thread) noexcept {
  // In this order: who ends a scope counts it first, and calls then.
  return_to_fast_path(thread);
  if (thread.abandoned.load() == 0) return;
  auto& all = thread.free_scopes;
  const auto is_open = [](const std::shared_ptr<FreeScope>& scope) {
    return scope->keeper.load(std::memory_order_acquire) != FreeScope::Keeper::closing;
  };
  // In the order of their ends, from the back: a scope's time in the file cannot be before what is
  // there.
  const auto closing = std::partition(all.begin(), all.end(), is_open);
  std::sort(closing, all.end(), [](const auto& a, const auto& b) { return a->end > b->end; });
  for (auto left = all.end() - closing; left > 0; --left) {
    const std::shared_ptr<FreeScope> scope = std::move(all.back());
    all.pop_back();
    end_scope(scope->open, scope->end, scope->annotations, scope->failed);
    thread.abandoned.fetch_sub(1, std::memory_order_relaxed);
  }
}

void close_abandoned_here(Core& core) noexcept {
  ThreadState* const thread = core.existing_thread();
  if (thread == nullptr) return;
  close_abandoned(*thread);
  for (ThreadState* const lane : thread->lanes) {
    if (lane != nullptr) close_abandoned(*lane);
  }
}

}  // namespace detail

Scope::Scope() noexcept = default;
Scope::Scope(std::shared_ptr<detail::FreeScope> open) noexcept : open_(std::move(open)) {}
Scope::Scope(Scope&& other) noexcept = default;
Scope::~Scope() {
  end();
}

Scope& Scope::operator=(Scope&& other) noexcept {
  if (this != &other) {
    end();
    open_ = std::move(other.open_);
  }
  return *this;
}

void Scope::end() noexcept {
  const std::shared_ptr<detail::FreeScope> scope = std::move(open_);
  if (scope == nullptr) return;
  const bool is_here =
      scope->keeper.load(std::memory_order_acquire) == detail::FreeScope::Keeper::thread &&
      pthread_equal(scope->thread, pthread_self()) != 0;
  if (!is_here) return detail::end_elsewhere(*scope);
  detail::close_abandoned(*scope->open.thread);
  detail::end_scope(scope->open, detail::ticks(), scope->annotations, scope->failed);
  detail::forget(*scope->open.thread, *scope);
}

void Scope::fail() noexcept {
  if (open_ != nullptr) open_->failed = true;
}

void Scope::attribute(const Attribute& attribute) noexcept {
  if (open_ == nullptr) return;
  try {
    detail::append_annotation(open_->annotations, attribute);
  } catch (...) {
    return;  // it goes without
  }
}

Profiler::Profiler(const Options& options) : core_(std::make_shared<detail::Core>(options)) {}
Profiler::Profiler(std::shared_ptr<detail::Core> core) noexcept : core_(std::move(core)) {}
Profiler::~Profiler() = default;

Scope Profiler::profile(std::string_view name, const ScopeOptions& options) noexcept {
  if (core_ == nullptr || core_->generation() == 0) return {};
  try {
    detail::ThreadState* const thread = core_->thread();
    if (thread == nullptr) throw std::bad_alloc();
    auto scope = std::make_shared<detail::FreeScope>();
    const std::string annotations = detail::annotations_of(options);
    const detail::OperationId operation = detail::operation_on(*thread, name);
    if (options.device == "gpu") core_->activities.add_gpu_operation(operation);
    thread->free_scopes.push_back(scope);
    if (!detail::begin_scope(*thread, scope->open, operation, annotations)) {
      thread->free_scopes.pop_back();
      return {};
    }
    return Scope(std::move(scope));
  } catch (...) {
    core_->count_lost_scope();
    return {};
  }
}

void Profiler::enable(bool on) noexcept {
  core_->enable(on);
}
bool Profiler::enabled() const noexcept {
  return core_->generation() != 0;
}
void Profiler::reset() noexcept {
  core_->reset();
}
void Profiler::configure(const Options& options) noexcept {
  core_->configure(options);
}

Summaries Profiler::summary() const {
  detail::close_abandoned_here(*core_);
  return detail::summarize(*core_);
}

std::vector<Bottleneck> Profiler::bottlenecks(std::size_t top_n) const {
  return detail::find_bottlenecks(summary(), top_n);
}

std::vector<Entry> Profiler::entries() const {
  detail::close_abandoned_here(*core_);
  return detail::list_entries(*core_);
}

Drops Profiler::drops() const {
  Drops drops;
  std::uint64_t calls = 0;
  for (const auto& [operation, stats] : core_->statistics()) calls += stats.count;
  const std::uint64_t kept =
      detail::read_spans(core_->timelines(), core_->options().max_entries).size();
  drops.entries = calls - std::min(calls, kept);
  drops.recorded_scopes = core_->dropped_scopes();
  drops.activities = core_->activities.dropped();
  drops.lost_scopes = core_->lost_scopes();
  return drops;
}

std::string Profiler::summary_text() const {
  return detail::summary_table(summary(), drops(), base::terminal_width(stdout));
}

std::string Profiler::bottlenecks_text(std::size_t top_n) const {
  const Summaries all = summary();
  return detail::bottlenecks_table(detail::find_bottlenecks(all, top_n), all.size(),
                                   base::terminal_width(stdout));
}

void Profiler::print_summary() const {
  const std::string text = summary_text();
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Profiler::print_bottlenecks(std::size_t top_n) const {
  const std::string text = bottlenecks_text(top_n);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

bool Profiler::start_recording(const std::string& path) noexcept {
  return core_->start_recording(path);
}
void Profiler::stop_recording() noexcept {
  core_->stop_recording();
}

ScopeRef Profiler::innermost_scope() noexcept {
  if (core_ == nullptr || core_->generation() == 0) return {};
  detail::ThreadState* const thread = core_->thread();
  return thread != nullptr ? detail::refer_to_innermost(*thread) : ScopeRef{};
}

void Profiler::record(const GpuActivity& activity) noexcept {
  if (core_ == nullptr || core_->generation() == 0) return;
  core_->start_again_in_child();
  if (core_->activities.add(activity)) core_->wake_writer();
}

void Profiler::record(const MemoryRecord& record) noexcept {
  if (core_ == nullptr || core_->generation() == 0) return;
  core_->start_again_in_child();
  core_->activities.add(record);
  if (!detail::memory_is_followed()) return;
  detail::ThreadState* const thread = core_->thread();
  detail::feed_memory(record, thread != nullptr ? detail::operation_of(*thread, record.scope) : 0);
}

void Profiler::record(const DeviceRecord& device) noexcept {
  if (core_ != nullptr) core_->activities.add(device);
}

void Profiler::count_lost_activities(std::uint64_t count) noexcept {
  if (core_ != nullptr) core_->activities.count_lost(count);
}

std::int64_t now_ns() noexcept {
  return detail::monotonic_raw_ns();
}

}  // namespace fathom
