// Sessions: a function measured many times, and two sessions side by side.
#include "fathom/session.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <unordered_map>

#include "fathom/profiler.h"
#include "profiler/core.h"

namespace fathom {
namespace {

using detail::ActivityLog;

// Recorders look for finished work at later calls, and every 10 ms by themselves.
constexpr auto kRecordersNeed = std::chrono::milliseconds(30);

// Which iteration a scope belongs to: by our numbers, and by those of the profiler that measures.
using Iterations = std::unordered_map<std::uint64_t, ScopeRef>;

class Iteration {
 public:
  Iteration(const ActivityLog::Content& content, const Iterations& iterations)
      : iterations_(iterations) {
    for (const detail::ScopeInstance& scope : content.scopes) {
      parents_[scope.instance] = scope.parent;
    }
  }

  // The one that the scope is inside of, or none.
  ScopeRef of(ScopeRef scope) const {
    std::uint64_t at = scope.instance;
    while (at != 0) {
      if (const auto found = iterations_.find(at); found != iterations_.end()) {
        return found->second;
      }
      const auto around = parents_.find(at);
      at = around == parents_.end() ? 0 : around->second;
    }
    return {};
  }

 private:
  const Iterations& iterations_;
  std::unordered_map<std::uint64_t, std::uint64_t> parents_;
};

std::string text_of(const std::array<std::uint64_t, 3>& size, std::uint8_t dimensions) {
  std::string text;
  if (size[0] == 0) return text;
  for (std::size_t i = 0; i < dimensions && i < size.size(); ++i) {
    text += (i == 0 ? "" : "x") + std::to_string(size[i]);
  }
  return text;
}

void add(std::map<std::string, KernelSummary>& kernels, const GpuActivity& launch) {
  KernelSummary& kernel = kernels[launch.name.text()];
  const auto ns = static_cast<double>(launch.end_ns - launch.start_ns);
  kernel.min_ns = std::min(kernel.min_ns.value_or(ns), ns);
  kernel.max_ns = std::max(kernel.max_ns.value_or(ns), ns);
  const auto join = [&](std::string& known, const std::string& next) {
    if (kernel.calls == 0) known = next;
    if (known != next) known = "several";
  };
  join(kernel.global_size, text_of(launch.size.global, launch.size.dimensions));
  join(kernel.local_size, text_of(launch.size.local, launch.size.dimensions));
  kernel.total_ns = kernel.total_ns.value_or(0) + ns;
  ++kernel.calls;
}

// Hands what the GPU did in the iterations to the profiler that measured them, and to nobody else:
// whoever follows memory has heard of it when it happened.
void add_gpu_work(ProfileSession& session, ActivityLog& measured,
                  const ActivityLog::Content& content, const Iterations& iterations) {
  const Iteration iteration(content, iterations);
  std::map<std::string, KernelSummary> kernels;
  for (GpuActivity activity : content.activities) {
    activity.scope = iteration.of(activity.scope);
    if (!activity.scope) continue;
    measured.add(activity);
    if (activity.kind == ActivityKind::kernel) add(kernels, activity);
    if (activity.kind != ActivityKind::copy) continue;
    ++session.copies;
    if (activity.bytes) {
      session.copied_bytes =
          session.copied_bytes.value_or(0) + static_cast<std::int64_t>(*activity.bytes);
    }
  }
  // All of it, for what is in use does not begin with the iterations.
  for (MemoryRecord record : content.memory) {
    record.scope = iteration.of(record.scope);
    measured.add(record);
  }
  for (auto& [name, kernel] : kernels) {
    kernel.name = name;
    kernel.self_ns = kernel.total_ns;
    session.kernels.push_back(std::move(kernel));
  }
  std::stable_sort(session.kernels.begin(), session.kernels.end(),
                   [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
}

void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& part) {
  if (part) sum = sum.value_or(0) + *part;
}

void add_totals(ProfileSession& session) {
  for (const Entry& entry : session.entries) {
    session.total_ns += entry.duration_ns;
    add(session.gpu_ns, entry.gpu_ns);
    add(session.transfer_ns, entry.transfer_ns);
    add(session.overhead_ns, entry.overhead_ns);
    add(session.cpu_ns, entry.cpu_ns);
    session.peak_memory_bytes = std::max(session.peak_memory_bytes, entry.memory_peak_bytes);
  }
}

std::optional<double> ratio(const std::optional<double>& before,
                            const std::optional<double>& after) {
  return before && after && *after > 0 ? std::optional(*before / *after) : std::nullopt;
}

std::optional<double> per_iteration(const ProfileSession& session, std::optional<double> total_ms) {
  if (total_ms) *total_ms /= static_cast<double>(session.iterations());
  return total_ms;
}

double change(const KernelComparison& kernel) {
  return std::abs(kernel.after_ms.value_or(0) - kernel.before_ms.value_or(0));
}

}  // namespace

ProfileSession Profiler::profile_function(const std::function<void()>& fn, std::string_view name,
                                          std::size_t warmup, std::size_t iterations) {
  for (std::size_t i = 0; i < warmup; ++i) fn();
  Options options = core_->options();
  options.enabled = true;
  options.sample_rate = 1;
  options.max_entries = std::max(options.max_entries, iterations);
  Profiler measured(options);
  Iterations seen;
  const std::uint64_t dropped = core_->activities.dropped();
  for (std::size_t i = 0; i < iterations; ++i) {
    const Scope here = profile(name);
    const Scope scope = measured.profile(name);
    // Where `here` is not measured (we are disabled, say), the innermost is none or one around us.
    const ScopeRef ours = innermost_scope();
    if (ours) seen.try_emplace(ours.instance, measured.innermost_scope());
    fn();
  }
  ProfileSession session;
  session.name = name;
  if (core_->activities.has_reports() && seen.size() == iterations) {
    std::this_thread::sleep_for(kRecordersNeed);
    // Figures that lack a part of the work would be wrong; then there are none.
    if (core_->activities.dropped() == dropped) {
      add_gpu_work(session, measured.core_->activities, core_->activities.content(), seen);
    }
  }
  session.entries = measured.entries();
  session.scopes = measured.summary();
  session.bottlenecks = measured.bottlenecks();
  add_totals(session);
  return session;
}

SessionComparison compare_sessions(const ProfileSession& before, const ProfileSession& after) {
  SessionComparison comparison;
  comparison.speedup = ratio(per_iteration(before, before.total_time_ms()),
                             per_iteration(after, after.total_time_ms()));
  if (before.peak_memory_bytes && after.peak_memory_bytes) {
    comparison.memory_diff.peak_mb = mb_of(*after.peak_memory_bytes - *before.peak_memory_bytes);
  }
  for (const KernelSummary& kernel : before.kernels) {
    comparison.kernels.push_back(
        {kernel.name, per_iteration(before, kernel.total_time_ms()), {}, {}});
    const auto same = std::find_if(after.kernels.begin(), after.kernels.end(),
                                   [&](const auto& each) { return each.name == kernel.name; });
    if (same == after.kernels.end()) continue;
    comparison.kernels.back().after_ms = per_iteration(after, same->total_time_ms());
    comparison.kernels.back().speedup = ratio(kernel.mean_ns(), same->mean_ns());
  }
  for (const KernelSummary& kernel : after.kernels) {
    const bool is_new = std::none_of(before.kernels.begin(), before.kernels.end(),
                                     [&](const auto& each) { return each.name == kernel.name; });
    if (is_new) {
      comparison.kernels.push_back(
          {kernel.name, {}, per_iteration(after, kernel.total_time_ms()), {}});
    }
  }
  std::stable_sort(comparison.kernels.begin(), comparison.kernels.end(),
                   [](const auto& a, const auto& b) { return change(a) > change(b); });
  return comparison;
}

}  // namespace fathom
