#include "analyze/compile/compiled_regions.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/operations/named_spans.h"

namespace fathom::analyze {
namespace {

constexpr std::string_view kRegion = "Torch-Compiled Region";

bool is_compiled(std::string_view name) {
  return name.starts_with(kRegion) || name.starts_with("CompiledFunction");
}

std::string id_in(std::string_view name) {
  constexpr std::string_view kBefore = ": ";
  if (!name.starts_with(kRegion)) return {};
  const std::size_t at = name.find(kBefore);
  return at == std::string_view::npos ? std::string()
                                      : std::string(name.substr(at + kBefore.size()));
}

}  // namespace

std::optional<CompiledShare> compiled_share(const trace::Trace& trace, const GpuWork& work) {
  const std::vector<bool> marked = names_that(trace, is_compiled);
  const trace::Spans& spans = trace.spans;
  std::map<std::string, CompiledRegion> regions;
  for (trace::SpanId id = 0; id < spans.size(); ++id) {
    if (!marked[spans.name[id]]) continue;
    if (outermost_around(spans, id, marked) != trace::kNoSpan) continue;
    CompiledRegion& region = regions[id_in(trace.name(id))];
    ++region.calls;
    region.host_ns += spans.duration_ns[id];
  }
  if (regions.empty()) return {};
  CompiledShare share;
  for (const WorkRow& row : work.rows) {
    share.gpu_ns += row.duration_ns();
    if (row.launch == trace::kNoSpan) continue;
    const trace::SpanId call = outermost_around(spans, row.launch, marked);
    if (call == trace::kNoSpan) continue;
    share.compiled_gpu_ns += row.duration_ns();
    regions[id_in(trace.name(call))].gpu_ns += row.duration_ns();
  }
  for (auto& [id, region] : regions) {
    region.id = id;
    share.regions.push_back(std::move(region));
  }
  std::ranges::stable_sort(share.regions, std::ranges::greater{}, [](const CompiledRegion& region) {
    return std::tuple(region.gpu_ns, region.host_ns);
  });
  return share;
}

}  // namespace fathom::analyze
