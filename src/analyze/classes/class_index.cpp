#include "analyze/classes/class_index.h"

#include <algorithm>

#include "trace/framework_names.h"

namespace fathom::analyze {

using trace::SpanId;
using trace::SpanKind;

ClassIndex::ClassIndex(const trace::Trace& trace)
    : trace_(trace), launches_graphs_(trace.names.size()) {
  const trace::Spans& spans = trace.spans;
  std::vector<bool> is_optimizer(trace.names.size());
  bool any_optimizer = false;
  for (trace::NameId name = 0; name < trace.names.size(); ++name) {
    const std::string_view text = trace.names.view(name);
    launches_graphs_[name] = text.find("GraphLaunch") != text.npos;
    is_optimizer[name] = text.starts_with(trace::kOptimizerStep);
    any_optimizer = any_optimizer || is_optimizer[name];
  }
  if (!any_optimizer) return;
  for (SpanId id = 0; id < spans.size(); ++id) {
    if (!is_optimizer[spans.name[id]] || spans.kind[id] == SpanKind::gpu_annotation) continue;
    const trace::Track& track = trace.tracks[spans.track[id]];
    const auto begin = spans.start_ns.begin() + id;
    const auto end = spans.start_ns.begin() + track.first_span + track.span_count;
    const auto after = std::lower_bound(begin, end, spans.end_ns(id));
    optimizers_.emplace_back(id, static_cast<SpanId>(after - spans.start_ns.begin()));
  }
}

SpanId ClassIndex::operation_of(SpanId launch) {
  if (launch == trace::kNoSpan || launches_graphs_[trace_.spans.name[launch]]) {
    return trace::kNoSpan;
  }
  constexpr std::uint32_t kNoOperation = base::PairIndex::kNone - 1;
  SpanId at = trace_.spans.parent[launch];
  passed_.clear();
  while (at != trace::kNoSpan && trace_.spans.kind[at] != SpanKind::cpu_op) {
    const std::uint32_t known = operations_.at(at, 0);
    if (known != base::PairIndex::kNone) {
      at = known == kNoOperation ? trace::kNoSpan : known;
      break;
    }
    passed_.push_back(at);
    at = trace_.spans.parent[at];
  }
  for (const SpanId id : passed_) operations_.at(id, 0) = at == trace::kNoSpan ? kNoOperation : at;
  return at;
}

bool ClassIndex::is_in_optimizer(SpanId launch) const {
  if (launch == trace::kNoSpan) return false;
  const auto next =
      std::ranges::upper_bound(optimizers_, launch, {}, &std::pair<SpanId, SpanId>::first);
  return next != optimizers_.begin() && launch < std::prev(next)->second;
}

KernelClass ClassIndex::of(SpanId work, SpanId launch) {
  const trace::Spans& spans = trace_.spans;
  const SpanKind kind = spans.kind[work];
  if (kind != SpanKind::kernel) return kernel_class(kind, {});
  const SpanId operation = operation_of(launch);
  const trace::NameId op = operation == trace::kNoSpan ? 0 : spans.name[operation];
  std::uint32_t& known = classes_.at(op, spans.name[work]);
  if (known == base::PairIndex::kNone) {
    known =
        static_cast<std::uint32_t>(kernel_class(kind, trace_.name(work), trace_.names.view(op)));
  }
  const auto found = static_cast<KernelClass>(known);
  return is_plain(found) && is_in_optimizer(launch) ? KernelClass::optimizer : found;
}

}  // namespace fathom::analyze
