#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/rules.h"
#include "analyze/operations/steps.h"
#include "analyze/run/set_up_calls.h"
#include "base/format.h"

// Trigger  After the first step (without steps, when most kernels have run once) threads that
// launch
//          GPU work give memory of the device back and allocate it again: 10 calls or more, 3 of
//          which free. Taking memory for the first time is set-up and not counted.
// Edit     Half of these calls go, with what they wait for; all; all.
namespace fathom::advise {
namespace {

constexpr std::size_t kManyCalls = 10;
constexpr std::size_t kManyFrees = 3;

// The end of the first step; without steps, when nine of ten kernels have run for the first time.
std::int64_t steady_since(const Facts& facts) {
  const std::vector<SpanId> steps = analyze::step_spans(facts.trace);
  if (steps.size() > 1) return facts.spans.end_ns(steps.front());
  std::map<trace::NameId, std::int64_t> first;
  for (const WorkRow& row : facts.on.gpu.rows) {
    const auto [at, is_new] = first.emplace(row.name, row.start_ns);
    if (!is_new) at->second = std::min(at->second, row.start_ns);
  }
  std::vector<std::int64_t> times;
  for (const auto& [name, time] : first) times.push_back(time);
  std::sort(times.begin(), times.end());
  return times.empty() ? INT64_MAX : times[(times.size() - 1) * 9 / 10];
}

struct Churn {
  std::vector<SpanId> calls;
  std::int64_t time_ns = 0;
};

// From the first call that frees to the last that allocates: what is allocated before that was
// never there, and what is freed after it is not needed any more.
Churn churn_of(const Facts& facts) {
  std::vector<bool> names(facts.trace.names.size());
  for (trace::NameId id = 0; id < names.size(); ++id) {
    names[id] = analyze::set_up_role(facts.trace.names.view(id)) == analyze::SetUpRole::memory;
  }
  const std::int64_t since = steady_since(facts);
  std::vector<SpanId> calls;
  for (SpanId id = 0; id < facts.spans.size(); ++id) {
    if (!names[facts.spans.name[id]] || facts.spans.kind[id] != SpanKind::runtime_call) continue;
    if (facts.spans.start_ns[id] < since || facts.sets_up(id)) continue;
    const std::uint32_t thread = facts.thread_of(id);
    if (thread != HostLines::kNoThread && facts.takes_part[thread]) calls.push_back(id);
  }
  std::stable_sort(calls.begin(), calls.end(), [&](SpanId a, SpanId b) {
    return facts.spans.start_ns[a] < facts.spans.start_ns[b];
  });
  const auto frees = [&](SpanId call) { return facts.role(call) == CallRole::free; };
  calls.erase(calls.begin(), std::find_if(calls.begin(), calls.end(), frees));
  while (!calls.empty() && frees(calls.back())) calls.pop_back();
  const auto count = static_cast<std::size_t>(std::count_if(calls.begin(), calls.end(), frees));
  if (calls.size() < kManyCalls || count < kManyFrees || count == calls.size()) return {};
  Churn found;
  for (const SpanId call : calls) found.time_ns += facts.spans.duration_ns[call];
  found.calls = std::move(calls);
  return found;
}

std::string allocations_hint(const Platform& platform) {
  const std::string hint = hint_for(
      platform,
      {.words = "Allocate before the loop and reuse it.",
       .pytorch = " PyTorch's allocator gives memory back when it finds no block that fits: keep "
                  "sizes the same, and keep torch.cuda.empty_cache() out of the step.",
       .jax = " JAX does so unless preallocation is off.\n"
              "export XLA_PYTHON_CLIENT_PREALLOCATE=true",
       .cuda = " Or use a memory pool.\n"
               "cudaMallocAsync(&data, bytes, stream);  // from the device's pool",
       .opencl = " One large buffer can be split up.\n"
                 "clCreateSubBuffer(all, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, "
                 "&error);"});
  const bool can_expand = platform.is_pytorch && platform.runtime == Runtime::cuda;
  return can_expand ? hint + "\nexport PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" : hint;
}

}  // namespace

Candidates rule_allocations(const Facts& facts) {
  const Churn churn = churn_of(facts);
  if (churn.calls.empty()) return {};
  Candidate found = found_by("allocations", SuggestionType::caching, churn.time_ns);
  show(found.words, facts.trace, churn.calls);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Reuse device memory instead of allocating it again";
  found.words.description = fmt::format(
      "{} took {} ({} of the run) to free and allocate device memory again and again while the "
      "run was under way; many of them make the host wait for the device.",
      base::format_plural(churn.calls.size(), "call", "calls"),
      base::format_duration(static_cast<double>(churn.time_ns)),
      base::format_percent(facts.share(churn.time_ns)));
  found.supposes = "if memory is reused";
  found.words.implementation_hint = allocations_hint(facts.platform);
  found.edit = [&facts, calls = churn.calls](Edits& edits, Effort effort) {
    for (std::size_t i = 0; i < calls.size(); i += pick<std::size_t>(effort, 2, 1, 1)) {
      ignore_waits_of(edits, facts.plan, calls[i]);
      scale_host(edits, facts.plan, calls[i], 0);
    }
  };
  return {found};
}

}  // namespace fathom::advise
