#include "base/figure_fields.h"

#include <algorithm>
#include <array>
#include <functional>

namespace fathom::base {
namespace {

using Figures = OperationFigures;

template <std::optional<double> Figures::*kMember>
constexpr OperationField field(std::string_view name, FieldUnit unit,
                               std::string_view older_name = {}) {
  return {name, unit, older_name, [](const Figures& figures) { return figures.*kMember; },
          [](Figures& figures, double value) { figures.*kMember = value; }};
}

std::optional<double> calls(const Figures& figures) {
  return static_cast<double>(figures.calls);
}
void set_calls(Figures& figures, double value) {
  if (value >= 0) figures.calls = static_cast<std::uint64_t>(value);
}
std::optional<double> errors(const Figures& figures) {
  return figures.errors ? std::optional(static_cast<double>(*figures.errors)) : std::nullopt;
}
void set_errors(Figures& figures, double value) {
  if (value >= 0) figures.errors = static_cast<std::uint64_t>(value);
}
std::optional<double> mean(const Figures& figures) {
  return figures.mean_ns();
}

constexpr std::array kOperationFields = {
    OperationField{"call_count", FieldUnit::count, {}, calls, set_calls},
    field<&Figures::total_ns>("total_time_ms", FieldUnit::ms),
    field<&Figures::self_ns>("self_time_ms", FieldUnit::ms),
    OperationField{"avg_time_ms", FieldUnit::ms, {}, mean, nullptr},
    field<&Figures::min_ns>("min_time_ms", FieldUnit::ms),
    field<&Figures::max_ns>("max_time_ms", FieldUnit::ms),
    field<&Figures::std_dev_ns>("std_dev_ms", FieldUnit::ms),
    field<&Figures::p50_ns>("p50_ms", FieldUnit::ms, "p50"),
    field<&Figures::p95_ns>("p95_ms", FieldUnit::ms, "p95"),
    field<&Figures::p99_ns>("p99_ms", FieldUnit::ms, "p99"),
    OperationField{"error_count", FieldUnit::count, {}, errors, set_errors},
    field<&Figures::gpu_ns>("total_gpu_time_ms", FieldUnit::ms),
    field<&Figures::cpu_ns>("total_cpu_time_ms", FieldUnit::ms),
    field<&Figures::transfer_ns>("total_transfer_time_ms", FieldUnit::ms),
    field<&Figures::overhead_ns>("total_overhead_ms", FieldUnit::ms),
    field<&Figures::avg_memory_bytes>("avg_memory_mb", FieldUnit::mb),
    field<&Figures::peak_memory_bytes>("peak_memory_mb", FieldUnit::mb),
    field<&Figures::avg_gpu_utilization>("avg_gpu_utilization", FieldUnit::share),
};

template <auto kGet>
std::optional<double> written(const CallFigures& figures) {
  return std::invoke(kGet, figures);
}

using Call = CallFigures;

constexpr std::array kCallFields = {
    CallField{"duration_ms", FieldUnit::ms, written<&Call::duration_ms>, nullptr},
    CallField{"gpu_time_ms", FieldUnit::ms, written<&Call::gpu_time_ms>, &Call::gpu_ns},
    CallField{"cpu_time_ms", FieldUnit::ms, written<&Call::cpu_time_ms>, &Call::cpu_ns},
    CallField{"transfer_time_ms", FieldUnit::ms, written<&Call::transfer_time_ms>,
              &Call::transfer_ns},
    CallField{"overhead_ms", FieldUnit::ms, written<&Call::overhead_ms>, &Call::overhead_ns},
    CallField{"memory_allocated_mb", FieldUnit::mb, written<&Call::memory_allocated_mb>,
              &Call::memory_allocated_bytes},
    CallField{"memory_peak_mb", FieldUnit::mb, written<&Call::memory_peak_mb>,
              &Call::memory_peak_bytes},
    CallField{"gpu_utilization", FieldUnit::share, written<&Call::gpu_utilization>, nullptr},
    CallField{"memory_bandwidth_gb_s", FieldUnit::share, written<&Call::memory_bandwidth_gb_s>,
              nullptr},
};

}  // namespace

std::span<const OperationField> operation_fields() {
  return kOperationFields;
}

std::span<const CallField> call_fields() {
  return kCallFields;
}

const OperationField* find_operation_field(std::string_view name) {
  if (name.empty()) return nullptr;
  const auto* const found =
      std::find_if(kOperationFields.begin(), kOperationFields.end(),
                   [&](const auto& each) { return each.name == name || each.older_name == name; });
  return found == kOperationFields.end() ? nullptr : found;
}

const CallField* find_call_field(std::string_view name) {
  const auto* const found = std::find_if(kCallFields.begin(), kCallFields.end(),
                                         [&](const auto& each) { return each.name == name; });
  return found == kCallFields.end() ? nullptr : found;
}

double size_of(FieldUnit unit) {
  switch (unit) {
    case FieldUnit::ms:
      return kNsPerMs;
    case FieldUnit::mb:
      return kBytesPerMb;
    case FieldUnit::count:
    case FieldUnit::share:
      break;
  }
  return 1;
}

void write_figures(JsonWriter& json, const OperationFigures& figures, Unknown unknown) {
  for (const OperationField& field : kOperationFields) {
    const std::optional<double> value = field.get(figures);
    if (!value && unknown == Unknown::is_left_out) continue;
    json.key(field.name);
    if (value && field.unit == FieldUnit::count) {
      json.value(static_cast<std::uint64_t>(*value));
    } else if (value) {
      json.value(*value / size_of(field.unit));
    } else {
      json.null();
    }
  }
}

void write_figures(JsonWriter& json, const CallFigures& figures, Unknown unknown) {
  for (const CallField& field : kCallFields) {
    const std::optional<double> value = field.get(figures);
    if (value || unknown == Unknown::is_null) json.key(field.name).value(value);
  }
}

}  // namespace fathom::base
