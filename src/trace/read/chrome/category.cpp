#include "trace/read/chrome/category.h"

#include <array>
#include <cctype>
#include <optional>
#include <string>

namespace fathom::trace {
namespace {

struct Known {
  std::string_view text;
  SpanKind kind;
};

// In lower case: names differ in case between versions.
constexpr std::array kKnown = {
    Known{"operator", SpanKind::cpu_op},
    Known{"python_function", SpanKind::python},
    Known{"user_annotation", SpanKind::annotation},
    Known{"gpu_user_annotation", SpanKind::gpu_annotation},
    Known{"runtime", SpanKind::runtime_call},
    Known{"cuda_runtime", SpanKind::runtime_call},
    Known{"cuda_driver", SpanKind::runtime_call},
    Known{"hip_runtime", SpanKind::runtime_call},
    Known{"hip_driver", SpanKind::runtime_call},
    Known{"xpu_runtime", SpanKind::runtime_call},
    Known{"xpu_driver", SpanKind::runtime_call},
    Known{"mtia_runtime", SpanKind::runtime_call},
    Known{"glow_runtime", SpanKind::runtime_call},
    Known{"privateuse1_runtime", SpanKind::runtime_call},
    Known{"privateuse1_driver", SpanKind::runtime_call},
    Known{"concurrent_kernel", SpanKind::kernel},
    Known{"memcpy", SpanKind::copy},
    Known{"gpu_memcpy", SpanKind::copy},
    Known{"memset", SpanKind::fill},
    Known{"gpu_memset", SpanKind::fill},
    Known{"cuda_sync", SpanKind::sync},
};

SpanKind kind_of(const std::string& lower) {
  for (const Known& known : kKnown) {
    if (known.text == lower) return known.kind;
  }
  return span_kind_of(lower).value_or(SpanKind::other);
}

}  // namespace

Category category_of(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  Category category;
  category.kind = kind_of(lower);
  category.on_gpu = is_gpu_work(category.kind) || category.kind == SpanKind::gpu_annotation ||
                    lower == "cuda_sync";
  category.uses_args = category.on_gpu || category.kind == SpanKind::runtime_call ||
                       category.kind == SpanKind::sync || category.kind == SpanKind::other;
  category.has_shape = category.kind == SpanKind::kernel || category.kind == SpanKind::cpu_op;
  category.is_launch_flow = lower == "ac2g" || lower == "async_cpu_to_gpu" || lower == "async";
  return category;
}

}  // namespace fathom::trace
