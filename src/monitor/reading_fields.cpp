#include "monitor/reading_fields.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

namespace fathom::monitor {
namespace {

template <auto Member>
constexpr ReadingField reading_field_of(std::string_view name, double steps_per_unit) {
  return {name, steps_per_unit,
          [](const GpuReading& reading) -> std::optional<double> {
            const auto& value = reading.*Member;
            return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
          },
          [](GpuReading& reading, double value) {
            using Value = typename std::remove_reference_t<decltype(reading.*Member)>::value_type;
            if constexpr (std::is_integral_v<Value>) {  // a file may say anything
              constexpr double kMost =
                  std::min(9e15, static_cast<double>(std::numeric_limits<Value>::max()));
              value = std::clamp(value, 0.0, kMost);
            }
            reading.*Member = static_cast<Value>(value);
          }};
}

constexpr double kWhole = 1;
constexpr double kHundredths = 100;
constexpr double kThousandths = 1000;

using R = GpuReading;
constexpr std::array kReadingFields = {
    reading_field_of<&R::memory_used_bytes>("memory_used_bytes", kWhole),
    reading_field_of<&R::memory_free_bytes>("memory_free_bytes", kWhole),
    reading_field_of<&R::memory_reserved_bytes>("memory_reserved_bytes", kWhole),
    reading_field_of<&R::utilization_percent>("utilization_percent", kHundredths),
    reading_field_of<&R::memory_utilization_percent>("memory_utilization_percent", kHundredths),
    reading_field_of<&R::encoder_percent>("encoder_percent", kHundredths),
    reading_field_of<&R::decoder_percent>("decoder_percent", kHundredths),
    reading_field_of<&R::temperature_celsius>("temperature_celsius", kHundredths),
    reading_field_of<&R::memory_temperature_celsius>("memory_temperature_celsius", kHundredths),
    reading_field_of<&R::power_watts>("power_watts", kThousandths),
    reading_field_of<&R::energy_joules>("energy_joules", kThousandths),
    reading_field_of<&R::core_clock_hz>("core_clock_hz", 1e-3),
    reading_field_of<&R::memory_clock_hz>("memory_clock_hz", 1e-3),
    reading_field_of<&R::fan_percent>("fan_percent", kHundredths),
    reading_field_of<&R::fan_rpm>("fan_rpm", kWhole),
    reading_field_of<&R::throttle>("throttle", kWhole),
    reading_field_of<&R::ecc_corrected>("ecc_corrected", kWhole),
    reading_field_of<&R::ecc_uncorrected>("ecc_uncorrected", kWhole),
};

}  // namespace

std::span<const ReadingField> reading_fields() {
  return kReadingFields;
}

std::size_t reading_field(std::string_view name) {
  const auto found = std::ranges::find(kReadingFields, name, &ReadingField::name);
  return static_cast<std::size_t>(found - kReadingFields.begin());
}

}  // namespace fathom::monitor
