#include "report/page/part.h"

#include <array>
#include <utility>

namespace fathom::report {

using analyze::Loss;
using analyze::Part;
using analyze::WorkType;
using trace::SpanKind;

std::string_view page_part(Part part) {
  return analyze::name_of(part);
}

std::string_view page_part(WorkType type) {
  switch (type) {
    case WorkType::communication:
      return "comm";
    case WorkType::memory:
      return page_part(Part::transfer);
    default:
      return page_part(Part::gpu);
  }
}

std::string_view page_part(analyze::KernelClass kernel_class) {
  return page_part(analyze::work_type(kernel_class));
}

std::string_view page_part(const analyze::Operation& operation) {
  return operation.kernel_class ? page_part(*operation.kernel_class)
                                : page_part(operation.kind, operation.name);
}

std::string_view page_part(SpanKind kind, std::string_view name, bool others_are_frames) {
  if (trace::is_gpu_work(kind)) return page_part(analyze::kernel_class(kind, name));
  const bool is_frame = kind == SpanKind::gpu_annotation || kind == SpanKind::unfinished ||
                        (kind == SpanKind::other && others_are_frames);
  return is_frame ? "idle" : page_part(analyze::part_of(kind));
}

std::string_view page_part(Loss loss) {
  switch (loss) {
    case Loss::host_wait:
      return page_part(Part::cpu);
    case Loss::communication:
      return page_part(WorkType::communication);
    case Loss::copies:
      return page_part(WorkType::memory);
    default:
      return page_part(Part::overhead);
  }
}

std::string_view page_part(analyze::Bound bound) {
  switch (bound) {
    case analyze::Bound::compute:
      return page_part(Part::gpu);
    case analyze::Bound::communication:
      return page_part(WorkType::communication);
    case analyze::Bound::copy:
      return page_part(Part::transfer);
    case analyze::Bound::data_loading:
    case analyze::Bound::cpu:
      return page_part(Part::cpu);
    case analyze::Bound::unknown:
      return "idle";
    default:
      return page_part(Part::overhead);
  }
}

std::string_view page_part(const NamedFigures& scope) {
  const std::array<std::pair<Part, double>, 4> parts = {{
      {Part::cpu, scope.cpu_ns.value_or(0)},
      {Part::gpu, scope.gpu_ns.value_or(0)},
      {Part::transfer, scope.transfer_ns.value_or(0)},
      {Part::overhead, scope.overhead_ns.value_or(0)},
  }};
  std::pair<Part, double> most = parts.front();
  for (const auto& part : parts) {
    if (part.second > most.second) most = part;
  }
  return page_part(most.first);
}

}  // namespace fathom::report
