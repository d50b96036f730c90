#include "advise/platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

#include "analyze/efficiency/peaks.h"
#include "base/contains.h"
#include "trace/framework_names.h"

namespace fathom::advise {
namespace {

using trace::SpanKind;

bool is_one_of(std::string_view text, const auto& names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

bool starts_with_any(std::string_view text, const auto& begins) {
  return std::any_of(begins.begin(), begins.end(),
                     [&](std::string_view begin) { return text.starts_with(begin); });
}

// "cuLaunchKernel" is of the driver of CUDA, "custom" and "clip" are of nobody.
bool is_call_of(std::string_view prefix, std::string_view name) {
  return name.starts_with(prefix) && name.size() > prefix.size() &&
         std::isupper(static_cast<unsigned char>(name[prefix.size()])) != 0;
}

std::optional<Runtime> runtime_of_call(std::string_view name) {
  if (is_call_of("cuda", name) || is_call_of("cu", name)) return Runtime::cuda;
  if (is_call_of("hip", name)) return Runtime::hip;
  if (is_call_of("cl", name)) return Runtime::opencl;
  return std::nullopt;
}

// "Optimizer.step#SGD.step" → "SGD".
std::string optimizer_class(std::string_view annotation) {
  const std::size_t hash = annotation.find('#');
  if (hash == annotation.npos) return {};
  const std::string_view rest = annotation.substr(hash + 1);
  return std::string(rest.substr(0, rest.find('.')));
}

void learn_from_frameworks(Platform& platform, std::string_view name) {
  platform.server = std::max(platform.server, analyze::server_of(name));
  platform.uses_transformers |= analyze::is_of_package(name, "/transformers/");
  constexpr std::array<std::string_view, 4> kJax = {"PjitFunction(", "XlaModule:", "Thunk:#",
                                                    "TSL:"};
  platform.is_jax |= analyze::is_of_package(name, "/jax/") || starts_with_any(name, kJax);
  constexpr std::array<std::string_view, 3> kDdp = {
      "DistributedDataParallel.", "torch.distributed.ddp.", "torch/nn/parallel/distributed.py"};
  constexpr std::array<std::string_view, 3> kFullyShard = {
      "FSDP::", "fsdp::", "torch/distributed/fsdp/_fully_shard/"};
  constexpr std::array<std::string_view, 2> kWrapper = {"FullyShardedDataParallel.",
                                                        "torch/distributed/fsdp/"};
  if (starts_with_any(name, kDdp)) platform.is_ddp = true;
  if (starts_with_any(name, kFullyShard)) {
    platform.sharding = Sharding::fully_shard;  // it uses code of the wrapper
  } else if (platform.sharding == Sharding::none && starts_with_any(name, kWrapper)) {
    platform.sharding = Sharding::wrapper;
  }
}

void learn_from_host(Platform& platform, std::string_view name) {
  constexpr std::array<std::string_view, 5> kOfPytorch = {"aten::", "autograd::", trace::kStepName,
                                                          "Optimizer.", trace::kDataLoader};
  constexpr std::array<std::string_view, 4> kOfOptimizers = {
      trace::kOptimizerStep, "aten::_foreach_", "aten::_fused_adam", "aten::_fused_sgd"};
  if (starts_with_any(name, kOfPytorch)) platform.is_pytorch = true;
  if (base::contains(name, "Backward") || base::contains(name, "_backward")) platform.trains = true;
  if (!starts_with_any(name, kOfOptimizers)) return;
  platform.trains = true;
  platform.has_optimizer = true;
  if (name.starts_with(trace::kOptimizerStep)) platform.optimizer = optimizer_class(name);
  if (name.starts_with("aten::_fused_")) platform.optimizer_is_fused = true;
}

void learn_from_kernel(Platform& platform, std::string_view name) {
  if (!base::contains(name, "at::native::")) return;
  platform.is_pytorch = true;
  platform.trains |= base::contains(name, "_backward");
}

void learn_from(Platform& platform, SpanKind kind, std::string_view name) {
  switch (kind) {
    case SpanKind::runtime_call:
    case SpanKind::sync:
      // The first name tells: one program uses one runtime.
      if (platform.runtime == Runtime::unknown) {
        platform.runtime = runtime_of_call(name).value_or(Runtime::unknown);
      }
      break;
    case SpanKind::cpu_op:
    case SpanKind::annotation:
      learn_from_host(platform, name);
      learn_from_frameworks(platform, name);
      break;
    case SpanKind::python:
      platform.is_pytorch |= name.starts_with("torch/");
      learn_from_frameworks(platform, name);
      break;
    case SpanKind::kernel:
      learn_from_kernel(platform, name);
      break;
    default:
      break;
  }
}

// Where a trace has no calls, the maker of the device tells. OpenCL has devices of any maker.
Runtime runtime_of_device(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNvidia = {"NVIDIA", "Tesla", "GeForce", "Quadro"};
  constexpr std::array<std::string_view, 3> kAmd = {"AMD Instinct", "AMD Radeon", "gfx"};
  if (starts_with_any(name, kNvidia)) return Runtime::cuda;
  return starts_with_any(name, kAmd) ? Runtime::hip : Runtime::unknown;
}

// "GeForce RTX 3090": the first digit of four is the generation, "Ti" and "SUPER" are words apart.
std::optional<char> rtx_generation(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "RTX" && words[i + 1].size() >= 4 && std::isdigit(words[i + 1][0]) != 0) {
      return words[i + 1][0];
    }
  }
  return std::nullopt;
}

std::string renamed_to_hip(std::string_view code) {
  std::string text(code);
  for (std::size_t at = text.find("cuda"); at != text.npos; at = text.find("cuda", at)) {
    text.replace(at, 4, "hip");
  }
  return text;
}

// A trace that does not name its GPU has kernels that do: "volta_sgemm_128x64_nt", "sm80_xmma_…".
// They run on later GPUs, too: this is the least that the GPU has.
TensorCores tensor_cores_of_kernels(const base::StringPool& names) {
  constexpr std::array<std::string_view, 5> kLater = {"ampere_", "sm80_", "sm90_", "cutlass_80_",
                                                      "nvjet_"};
  constexpr std::array<std::string_view, 2> kFirst = {"volta_", "turing_"};
  TensorCores found = TensorCores::none_known;
  for (trace::NameId id = 0; id < names.size(); ++id) {
    const auto has = [&](std::string_view part) { return base::contains(names.view(id), part); };
    if (std::any_of(kLater.begin(), kLater.end(), has)) return TensorCores::with_tf32;
    if (std::any_of(kFirst.begin(), kFirst.end(), has)) found = TensorCores::without_tf32;
  }
  return found;
}

}  // namespace

TensorCores tensor_cores_of(std::string_view device_name) {
  constexpr std::array<std::string_view, 4> kFirst = {"V100", "T4", "V100S", "GV100"};
  constexpr std::array<std::string_view, 32> kLater = {
      "A100",  "A100X", "A800",  "A10",   "A10G",  "A10M", "A16",  "A2",   "A30",   "A40",  "A4000",
      "A4500", "A5000", "A5500", "A6000", "L4",    "L20",  "L40",  "L40S", "H20",   "H100", "H200",
      "H800",  "GH200", "GB10",  "GB200", "GB300", "B100", "B200", "B300", "A2000", "A1000"};
  const std::vector<std::string_view> words = analyze::device_words(device_name);
  const auto is_any_of = [&](const auto& names) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return is_one_of(word, names); });
  };
  if (is_any_of(kFirst)) return TensorCores::without_tf32;
  if (is_any_of(kLater)) return TensorCores::with_tf32;
  if (base::contains(device_name, "TITAN V") || base::contains(device_name, "TITAN RTX")) {
    return TensorCores::without_tf32;
  }
  if (base::contains(device_name, "RTX PRO")) return TensorCores::with_tf32;
  const std::optional<char> generation = rtx_generation(words);
  if (!generation) return TensorCores::none_known;
  // "Quadro RTX 6000" is of Turing, "RTX 6000 Ada Generation" is not.
  const bool is_turing = *generation == '2' || base::contains(device_name, "Quadro");
  return is_turing ? TensorCores::without_tf32 : TensorCores::with_tf32;
}

Platform platform_of(const trace::Trace& trace) {
  Platform platform;
  std::vector<std::uint16_t> known(trace.names.size());  // kinds under which each was looked at
  for (trace::SpanId id = 0; id < trace.spans.size(); ++id) {
    const SpanKind kind = trace.spans.kind[id];
    const auto bit = static_cast<std::uint16_t>(1U << static_cast<unsigned>(kind));
    std::uint16_t& seen = known[trace.spans.name[id]];
    if ((seen & bit) != 0) continue;
    seen |= bit;
    learn_from(platform, kind, trace.name(id));
  }
  for (const trace::DeviceInfo& device : trace.run.devices) {
    if (platform.runtime == Runtime::unknown) platform.runtime = runtime_of_device(device.name);
    if (platform.tensor_cores == TensorCores::none_known) {
      platform.tensor_cores = tensor_cores_of(device.name);
    }
  }
  if (trace.run.devices.empty()) platform.tensor_cores = tensor_cores_of_kernels(trace.names);
  return platform;
}

std::string hint_for(const Platform& platform, const Hints& hints) {
  std::string more;
  if (platform.is_pytorch) {
    more = hints.pytorch;
  } else if (platform.is_jax) {
    more = hints.jax;  // calls of a runtime are of no use to it
  } else if (platform.runtime == Runtime::cuda) {
    more = hints.cuda;
  } else if (platform.runtime == Runtime::hip) {
    more = renamed_to_hip(hints.cuda);
  } else if (platform.runtime == Runtime::opencl) {
    more = hints.opencl;
  }
  if (more.empty() && !hints.words.ends_with('.')) more = ".";
  return std::string(hints.words) + more;
}

std::string fused_optimizer_line(const Platform& platform) {
  if (!platform.has_optimizer || platform.optimizer_is_fused) return {};
  if (platform.optimizer.empty()) {
    return "\noptimizer = torch.optim.AdamW(parameters, lr, fused=True)  # Adam and SGD have it "
           "too";
  }
  constexpr std::array<std::string_view, 3> kHaveIt = {"Adam", "AdamW", "SGD"};
  if (!is_one_of(platform.optimizer, kHaveIt)) return {};
  return fmt::format("\noptimizer = torch.optim.{}(parameters, lr, fused=True)",
                     platform.optimizer);
}

}  // namespace fathom::advise
