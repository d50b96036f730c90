#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/format.h"
#include "monitor/alert_words.h"
#include "monitor/session_record.h"

// What a session says should be changed. Each suggestion has figures that anyone can check.
namespace fathom::monitor {
namespace {

constexpr std::uint64_t kFewestLooks = 10;  // fewer are no evidence
constexpr double kInUse = 5;                // percent at most: below, nobody used it
constexpr double kLowUtilization = 50;      // percent on average
constexpr double kNotableShare = 0.05;      // of the looks
constexpr std::uint64_t kFewestRequests = 20;
constexpr double kSlowMs = 100;  // what people notice
constexpr double kLongTail = 3;  // p99 of so many medians

std::string device_words(const DeviceFigures& figures) {
  return fmt::format("GPU {} ({})", figures.identity.index, figures.identity.name);
}

double share_of_looks(std::uint64_t looks, const DeviceFigures& figures) {
  return figures.looks == 0 ? 0 : static_cast<double>(looks) / static_cast<double>(figures.looks);
}

std::string share_words(std::uint64_t looks, const DeviceFigures& figures) {
  return fmt::format("{:.0f} % of {}", 100 * share_of_looks(looks, figures),
                     base::format_plural(figures.looks, "sample", "samples"));
}

using Suggestions = std::vector<MonitorSuggestion>;

void suggest_for_utilization(const DeviceFigures& figures, Suggestions& into) {
  const Range* const busy = figures.range("utilization_percent");
  if (busy == nullptr || busy->most < kInUse || busy->mean() >= kLowUtilization) return;
  into.push_back(
      {"low_utilization", "Give " + device_words(figures) + " more to do",
       "Use larger batches, load data with more workers and ahead of time, or run a second program "
       "beside this one. Where it waits: fathom profile -- PROGRAM",
       fmt::format("{:.0f} % utilised on average, {:.0f} % at most, over {}", busy->mean(),
                   busy->most, base::format_plural(figures.looks, "sample", "samples"))});
}

void suggest_for_memory(const DeviceFigures& figures, const MonitorConfig& config,
                        Suggestions& into) {
  const Range* const used = figures.range("memory_used_bytes");
  if (used == nullptr || figures.full_looks == 0) return;
  const auto total = static_cast<double>(figures.identity.memory_total_bytes.value_or(0));
  const double excess = used->most - total * config.memory_warning_percent / 100;
  into.push_back(
      {"high_memory", "Free memory on " + device_words(figures),
       fmt::format("{} less would keep it below {:g} %. Per program: smaller batches (if all of it "
                   "were activations, by {:.0f} %), 16-bit numbers, recomputed activations, or a "
                   "model split over several GPUs. What holds it: fathom memory -- PROGRAM",
                   base::format_bytes(std::max(0.0, excess)), config.memory_warning_percent,
                   100 * std::max(0.0, excess) / std::max(1.0, used->most)),
       fmt::format("{} of {} in use at most ({:.0f} %); at or above {:g} % in {}",
                   base::format_bytes(used->most), base::format_bytes(total),
                   figures.memory_percent.most, config.memory_warning_percent,
                   share_words(figures.full_looks, figures))});
}

void suggest_for_temperature(const DeviceFigures& figures, const MonitorConfig& config,
                             Suggestions& into) {
  const Range* const heat = figures.range("temperature_celsius");
  if (heat == nullptr || figures.hot_looks == 0) return;
  std::string evidence = fmt::format(
      "{:.0f} °C at most, {:.0f} °C on average; at or above {:g} °C in {}", heat->most,
      heat->mean(), config.temperature_warning_celsius, share_words(figures.hot_looks, figures));
  if (figures.identity.slowdown_celsius) {
    evidence += fmt::format("; it slows down at {:.0f} °C", *figures.identity.slowdown_celsius);
  }
  const Range* const fan = figures.range("fan_percent");
  if (fan != nullptr) evidence += fmt::format("; fan {:.0f}–{:.0f} %", fan->least, fan->most);
  into.push_back({"high_temperature", "Cool " + device_words(figures) + " better",
                  "Look at its fan and the air flow of the case, clean the heat sink, or lower its "
                  "power limit (nvidia-smi -pl WATTS): the last percent of speed cost most power.",
                  std::move(evidence)});
}

void suggest_for_throttling(const DeviceFigures& figures, Suggestions& into) {
  std::uint64_t alarming = 0;
  std::string reasons;
  for (std::size_t bit = 0; bit < figures.throttled_looks.size(); ++bit) {
    const std::uint32_t reason = 1U << bit;
    if (figures.throttled_looks[bit] == 0) continue;
    if ((reason & kAlarmingReasons) != 0) {
      alarming = std::max(alarming, figures.throttled_looks[bit]);
      reasons += (reasons.empty() ? "" : ", ") + alarming_reasons(reason);
    }
  }
  const std::size_t cap = std::countr_zero(static_cast<std::uint32_t>(ThrottleReason::power_cap));
  const std::uint64_t capped = figures.throttled_looks[cap];
  const Range* const clock = figures.range("core_clock_hz");
  std::string clocks;
  if (clock != nullptr && figures.identity.max_core_clock_hz) {
    clocks = fmt::format("; clock {:.0f} MHz on average of {:.0f} MHz", clock->mean() / 1e6,
                         *figures.identity.max_core_clock_hz / 1e6);
  }
  if (alarming > 0) {
    into.push_back(
        {"throttling", "Find out why " + device_words(figures) + " slows itself down",
         "Cooling first, then the power supply: it gave away speed to protect itself.",
         fmt::format("slowed down ({}) in {}{}", reasons, share_words(alarming, figures), clocks)});
  } else if (share_of_looks(capped, figures) >= kNotableShare) {
    std::string limit;
    if (figures.identity.power_limit_watts) {
      limit = fmt::format(" of {:.0f} W", *figures.identity.power_limit_watts);
    }
    into.push_back(
        {"throttling", "Raise the power limit of " + device_words(figures),
         "If supply and cooling allow: nvidia-smi -pl WATTS. Otherwise this is as fast "
         "as it goes.",
         fmt::format("at its power limit{} in {}{}", limit, share_words(capped, figures), clocks)});
  }
}

// Where the time of requests goes, by what the GPUs did meanwhile.
void suggest_for_inference(const SessionRecord& record, Suggestions& into) {
  const InferenceFigures inference = record.session().inference;
  if (inference.count < kFewestRequests || !inference.p50_ms || !inference.p99_ms) return;
  const bool has_long_tail = *inference.p99_ms >= kLongTail * *inference.p50_ms;
  if (!has_long_tail && *inference.p50_ms < kSlowMs) return;
  std::optional<double> busiest;
  for (const auto& [uuid, figures] : record.devices()) {
    const Range* const busy = figures.range("utilization_percent");
    if (busy != nullptr) busiest = std::max(busiest.value_or(0), busy->mean());
  }
  std::string evidence =
      fmt::format("{}: half of them within {:.1f} ms, 95 % within {:.1f} ms, 99 % within {:.1f} ms",
                  base::format_plural(inference.count, "request", "requests"), *inference.p50_ms,
                  *inference.p95_ms, *inference.p99_ms);
  if (busiest) evidence += fmt::format("; the busiest GPU was {:.0f} % utilised", *busiest);
  std::string detail;
  if (busiest && *busiest < kLowUtilization) {
    detail =
        "The GPUs had time to spare, so it goes to the host: preparing inputs, copies, waiting "
        "for each other. fathom profile -- PROGRAM shows which.";
  } else if (busiest) {
    detail =
        "The GPUs were busy: batch requests, use 16-bit or smaller numbers, or spread them over "
        "more GPUs. fathom profile -- PROGRAM shows which kernels take the time.";
  } else {
    detail = "fathom profile -- PROGRAM shows where the time of a request goes.";
  }
  if (has_long_tail)
    detail += " A few requests take much longer than most: look for queues and first calls.";
  into.push_back(
      {"slow_inference", "Make requests faster", std::move(detail), std::move(evidence)});
}

}  // namespace

std::vector<MonitorSuggestion> session_suggestions(const SessionRecord& record) {
  const MonitorConfig config = record.session().config;
  Suggestions all;
  for (const auto& [uuid, figures] : record.devices()) {
    if (figures.looks < kFewestLooks) continue;
    suggest_for_throttling(figures, all);
    suggest_for_temperature(figures, config, all);
    suggest_for_memory(figures, config, all);
    suggest_for_utilization(figures, all);
  }
  suggest_for_inference(record, all);
  return all;
}

}  // namespace fathom::monitor
