#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <protozero/pbf_writer.hpp>

#include "fathom/figures.h"
#include "perfetto/fields.h"

// Figures of an operation in a run file: one list of fields for those who write it and who reads
// it.
namespace fathom::perfetto {

struct OperationPacketField {
  std::uint32_t number = 0;
  std::optional<double> OperationFigures::*member = nullptr;
  bool is_whole = false;  // a count of nanoseconds; else a double
};

inline constexpr std::array kOperationPacketFields = {
    OperationPacketField{fathom_operation::kTotalNs, &OperationFigures::total_ns, true},
    OperationPacketField{fathom_operation::kNestedNs, &OperationFigures::nested_ns, true},
    OperationPacketField{fathom_operation::kSelfNs, &OperationFigures::self_ns, true},
    OperationPacketField{fathom_operation::kMinNs, &OperationFigures::min_ns, true},
    OperationPacketField{fathom_operation::kMaxNs, &OperationFigures::max_ns, true},
    OperationPacketField{fathom_operation::kStdDevNs, &OperationFigures::std_dev_ns},
    OperationPacketField{fathom_operation::kP50Ns, &OperationFigures::p50_ns},
    OperationPacketField{fathom_operation::kP95Ns, &OperationFigures::p95_ns},
    OperationPacketField{fathom_operation::kP99Ns, &OperationFigures::p99_ns},
};

inline void add_operation(protozero::pbf_writer& run, const NamedFigures& figures) {
  protozero::pbf_writer operation(run, fathom_run::kOperation);
  operation.add_string(fathom_operation::kName, figures.operation);
  operation.add_uint64(fathom_operation::kCalls, figures.calls);
  if (figures.errors) operation.add_uint64(fathom_operation::kErrors, *figures.errors);
  for (const OperationPacketField& field : kOperationPacketFields) {
    const std::optional<double>& ns = figures.*field.member;
    if (!ns) continue;
    if (!field.is_whole) {
      operation.add_double(field.number, *ns);
    } else if (*ns >= 0) {
      operation.add_uint64(field.number, static_cast<std::uint64_t>(std::llround(*ns)));
    }
  }
}

}  // namespace fathom::perfetto
