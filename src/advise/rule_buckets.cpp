#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/rules.h"
#include "base/format.h"
#include "base/median.h"

// Trigger  More than 20 all-reduces per step, half of them shorter than 100 µs: the GPU pays the
//          latency of each, and there is too little in one to hide behind compute.
// Edit     They become as few as 25 MB each allow (one in ten, where sizes are not known). Those
//          that go take the median time with them, which is latency, and mid and high their calls
//          on the host as well. Of what remains with nothing beside it 0, 70 and 100 % is hidden.
namespace fathom::advise {
namespace {

constexpr std::size_t kManyPerStep = 20;
constexpr std::int64_t kTinyNs = 100'000;
constexpr double kBucketsTriggerPct = 3;
constexpr double kBucketBytes = 25e6;

struct TinyReduces {
  std::vector<CollectiveWork> all;
  std::int64_t median_ns = 0;
  std::int64_t total_ns = 0;
  std::size_t kept = 0;  // after they were put together
};

TinyReduces tiny_reduces(const Facts& facts) {
  TinyReduces found;
  std::vector<std::int64_t> times;
  std::int64_t bytes = 0;
  bool all_sized = true;
  for (const CollectiveWork& one : facts.collectives) {
    if (one.exchange != Exchange::all_reduce) continue;
    found.all.push_back(one);
    times.push_back(facts.on.gpu.rows[one.row].duration_ns());
    found.total_ns += times.back();
    all_sized &= one.bytes.has_value();
    bytes += one.bytes.value_or(0);
  }
  if (times.empty()) return found;
  found.median_ns = base::median(times);
  const std::size_t per_step = found.all.size() / std::max<std::size_t>(1, facts.steps);
  if (per_step <= kManyPerStep || found.median_ns >= kTinyNs) return {};
  const double buckets = all_sized ? std::ceil(static_cast<double>(bytes) / kBucketBytes)
                                   : static_cast<double>(times.size()) / 10;
  found.kept = std::clamp<std::size_t>(static_cast<std::size_t>(buckets),
                                       std::max<std::size_t>(1, facts.steps), times.size());
  return found;
}

// The operation on the host that asked for it: "c10d::allreduce_".
std::vector<bool> names_of_requests(const trace::Trace& trace) {
  return names_that(trace, [](std::string_view name) {
    return name.starts_with("c10d::") || name.starts_with("_c10d_functional::") ||
           name == "record_param_comms";
  });
}

std::string buckets_hint(const Facts& facts) {
  return hint_for(
      facts.platform,
      {.words = "Put gradients together before they are exchanged: about 25 MB at a time, as soon "
                "as they are ready, while the backward pass goes on.",
       .pytorch = " DistributedDataParallel does that; code that reduces each gradient by itself "
                  "does not.\n"
                  "model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=25, "
                  "gradient_as_bucket_view=True)"});
}

}  // namespace

bool has_tiny_all_reduces(const Facts& facts) {
  return !tiny_reduces(facts).all.empty();
}

Candidates rule_buckets(const Facts& facts) {
  const TinyReduces seen = tiny_reduces(facts);
  const std::vector<bool> requests = names_of_requests(facts.trace);
  std::vector<SpanId> operations;  // of the host, of each
  std::int64_t host_ns = 0;
  for (const CollectiveWork& one : seen.all) {
    const SpanId launch = facts.on.gpu.rows[one.row].launch;
    operations.push_back(outermost_around(facts.spans, launch, requests));
    if (operations.back() != kNoSpan) host_ns += facts.spans.duration_ns[operations.back()];
  }
  const std::int64_t concerns = seen.total_ns + host_ns;
  if (seen.all.empty() || facts.share(concerns) < kBucketsTriggerPct) return {};

  Candidate found = found_by("buckets", SuggestionType::batching, concerns);
  std::vector<SpanId> spans;
  std::int64_t alone_ns = 0;
  for (const CollectiveWork& one : seen.all) {
    spans.push_back(facts.on.gpu.rows[one.row].span);
    alone_ns += one.alone_ns;
  }
  show(found.words, facts.trace, std::move(spans));
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Reduce gradients in buckets, not one by one";
  const std::string per_step =
      facts.steps > 0
          ? fmt::format(" ({} per step)", base::format_count(seen.all.size() / facts.steps))
          : "";
  found.words.description = fmt::format(
      "{} all-reduces{}, most of them tiny (median {}), took {} on the GPU and {} on the host. {} "
      "of the GPU's part ran alongside compute.",
      base::format_count(seen.all.size()), per_step, base::format_duration(seen.median_ns),
      base::format_duration(seen.total_ns), base::format_duration(host_ns),
      alone_ns >= seen.total_ns
          ? "None"
          : base::format_percent(static_cast<double>(seen.total_ns - alone_ns) * 100 /
                                 static_cast<double>(seen.total_ns)));
  found.supposes =
      fmt::format("if {} larger ones{} take their place and 70 % of their time overlaps compute",
                  base::format_count(seen.kept / std::max<std::size_t>(1, facts.steps)),
                  facts.steps > 0 ? " per step" : "");
  found.words.implementation_hint = buckets_hint(facts);
  const std::size_t every = std::max<std::size_t>(1, seen.all.size() / seen.kept);
  found.edit = [&facts, seen, operations, every](Edits& edits, Effort effort) {
    const double hidden = pick(effort, 0.0, 0.7, 1.0);
    for (std::size_t i = 0; i < seen.all.size(); ++i) {
      const CollectiveWork& one = seen.all[i];
      const auto whole = static_cast<double>(facts.on.gpu.rows[one.row].duration_ns());
      if (whole <= 0) continue;
      const bool goes = i % every != 0;
      double left = goes ? std::max(0.0, whole - static_cast<double>(seen.median_ns)) : whole;
      left *= 1 - hidden * static_cast<double>(one.alone_ns) / whole;
      scale_work(edits, facts.plan, one.row, left / whole);
      if (!goes || effort == Effort::low) continue;
      scale_lag(edits, facts.plan, one.row, 0);
      if (operations[i] != kNoSpan) scale_host(edits, facts.plan, operations[i], 0);
    }
  };
  return {found};
}

}  // namespace fathom::advise
