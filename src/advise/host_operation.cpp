#include "advise/host_operation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analyze/efficiency/op_args.h"
#include "analyze/efficiency/op_work.h"
#include "base/json_scan.h"

namespace fathom::advise {
namespace {

// PyTorch's name without "aten::" and without the underscore of what works in place.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kTorchNames = {
    {{"mm", "matmul"},
     {"bmm", "matmul"},
     {"matmul", "matmul"},
     {"addmm", "matmul"},
     {"baddbmm", "matmul"},
     {"linear", "matmul"},
     {"add", "add"},
     {"mul", "multiply"},
     {"relu", "relu"},
     {"sum", "reduce"},
     {"mean", "reduce"}}};

std::optional<HostOperation> torch_operation(const trace::Trace& trace, trace::SpanId call) {
  constexpr std::string_view kPrefix = "aten::";
  std::string_view name = trace.name(call);
  if (!name.starts_with(kPrefix) || trace.spans.shape[call] == 0) return std::nullopt;
  const std::string_view op = name;
  name.remove_prefix(kPrefix.size());
  if (name.ends_with('_')) name.remove_suffix(1);
  const auto* const known =
      std::ranges::find(kTorchNames, name, &decltype(kTorchNames)::value_type::first);
  if (known == kTorchNames.end()) return std::nullopt;
  const auto inputs = analyze::op_inputs(trace.args(call));
  HostOperation found = {.name = std::string(known->second)};
  if (found.name == "matmul") {
    const auto work = analyze::op_work(op, inputs);
    found.size = work ? std::cbrt(work->flop / 2) : 0;
  } else {
    for (const analyze::OpInput& input : inputs) {
      if (input.is_tensor()) found.size = std::max(found.size, input.elements());
    }
  }
  if (found.size < 1) return std::nullopt;
  return found;
}

}  // namespace

std::optional<HostOperation> host_operation(const trace::Trace& trace, trace::SpanId call) {
  if (trace.spans.kind[call] != trace::SpanKind::scope) return torch_operation(trace, call);
  HostOperation found = {.name = std::string(trace.name(call))};
  bool is_routed = false;  // only the runtime library says where its scopes ran
  base::for_each_member(trace.args(call), base::JsonScanner::Mode::lenient,
                        [&](std::string_view key, std::string_view value) {
                          if (key == "size") found.size = base::real_of(value).value_or(0);
                          if (key == "runs_on") is_routed = true;
                        });
  if (!is_routed || found.size < 1) return std::nullopt;
  return found;
}

}  // namespace fathom::advise
