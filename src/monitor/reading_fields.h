#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "fathom/gpu_device.h"

namespace fathom::monitor {

// The metrics of a reading as numbers, for what treats them all alike: snapshots that are kept,
// session files, and the ranges of a report. Their names are those of GpuReading's members.
struct ReadingField {
  std::string_view name;
  double steps_per_unit = 1;  // how finely it is kept
  std::optional<double> (*get)(const GpuReading& reading) = nullptr;
  void (*set)(GpuReading& reading, double value) = nullptr;
};

// In an order that never changes: new ones go to the end. At most 32.
std::span<const ReadingField> reading_fields();
std::size_t reading_field(std::string_view name);  // its place; the number of fields for none

}  // namespace fathom::monitor
