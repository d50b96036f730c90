#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/format.h"

// Of DistributedDataParallel of PyTorch, what the run could do without.
//
// Alone       Trigger  It is used in a run of one rank: there is nobody to exchange gradients with.
//             Edit     What it copies and scales goes away, with its calls.
// Broadcasts  Trigger  It sends the buffers of the model (statistics of batch normalization) to all
//                      ranks at the start of every forward pass.
//             Edit     The same.
namespace fathom::advise {
namespace {

struct OfDdp {
  std::vector<std::uint32_t> rows;
  std::vector<SpanId> operations;  // of the host, that brought them
  std::int64_t gpu_ns = 0;
  std::int64_t host_ns = 0;
};

std::vector<bool> names_of_forward(const trace::Trace& trace) {
  return names_that(trace, [](std::string_view name) {
    return name.starts_with("DistributedDataParallel.forward");
  });
}

// "torch.distributed.ddp.reducer::copy_bucket_to_grad", "torch::distributed::reducer::mul_out".
std::vector<bool> names_of_reducer(const trace::Trace& trace) {
  return names_that(trace, [](std::string_view name) {
    return name.starts_with("torch.distributed.ddp.reducer::") ||
           name.starts_with("torch::distributed::reducer::") || name.starts_with("c10d::");
  });
}

void add(const Facts& facts, OfDdp& found, std::uint32_t index, SpanId operation) {
  found.rows.push_back(index);
  found.gpu_ns += facts.on.gpu.rows[index].duration_ns();
  if (!found.operations.empty() && found.operations.back() == operation) return;
  found.operations.push_back(operation);
  found.host_ns += facts.spans.duration_ns[operation];
}

// The buffers of the model are put together, sent and copied back before its own modules begin: not
// as part of another operation, as copies of modules are.
OfDdp buffers_of(const Facts& facts, const std::vector<bool>& forward) {
  OfDdp found;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.type != WorkType::memory || facts.direction(row) != TransferDirection::other) continue;
    const SpanId operation = operator_around(facts.spans, row.launch);
    if (operation == kNoSpan || facts.trace.name(operation) != "aten::copy_") continue;
    const SpanId around = facts.spans.parent[operation];
    if (around == kNoSpan || facts.spans.kind[around] == SpanKind::cpu_op) continue;
    if (innermost_around(facts.spans, operation, forward) != kNoSpan) {
      add(facts, found, i, operation);
    }
  }
  return found;
}

// Those that are part of a forward pass; the rows are added to what goes.
std::size_t add_broadcasts(const Facts& facts, const std::vector<bool>& forward, OfDdp& found) {
  const std::vector<bool> requests = names_that(
      facts.trace, [](std::string_view name) { return name.starts_with("c10d::broadcast"); });
  std::size_t count = 0;
  for (const CollectiveWork& one : facts.collectives) {
    const SpanId launch = facts.on.gpu.rows[one.row].launch;
    if (one.exchange != Exchange::broadcast) continue;
    if (innermost_around(facts.spans, launch, forward) == kNoSpan) continue;
    const SpanId request = outermost_around(facts.spans, launch, requests);
    add(facts, found, one.row, request == kNoSpan ? launch : request);
    ++count;
  }
  return count;
}

OfDdp reducer_of(const Facts& facts) {
  const std::vector<bool> reducer = names_of_reducer(facts.trace);
  OfDdp found;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const SpanId operation = outermost_around(facts.spans, facts.on.gpu.rows[i].launch, reducer);
    if (operation != kNoSpan) add(facts, found, i, operation);
  }
  return found;
}

std::function<void(Edits&, Effort)> without(const Facts& facts, const OfDdp& some) {
  return [&facts, some](Edits& edits, Effort /*all the same*/) {
    for (const std::uint32_t row : some.rows) {
      scale_work(edits, facts.plan, row, 0);
      scale_lag(edits, facts.plan, row, 0);
    }
    for (const SpanId operation : some.operations) scale_host(edits, facts.plan, operation, 0);
  };
}

bool runs_in_every_step(const Facts& facts, std::size_t count) {
  return count > 0 && count >= facts.steps;
}

Candidate of_one_rank(const Facts& facts, OfDdp seen) {
  Candidate found = found_by("ddp", SuggestionType::algorithm, seen.gpu_ns + seen.host_ns);
  show_work(found.words, facts, seen.rows);
  found.words.operation = "DistributedDataParallel";
  found.words.title = "Leave out DistributedDataParallel: there is one rank";
  found.words.description = fmt::format(
      "The run has one rank, so there is nobody to exchange gradients with. "
      "DistributedDataParallel still copies buffers and gradients and scales them: {} on the GPU, "
      "{}.",
      base::format_plural(seen.rows.size(), "kernel or copy", "kernels and copies"),
      base::format_duration(seen.gpu_ns));
  found.supposes = "if the model is trained as it is";
  found.words.implementation_hint =
      "Wrap the model only where there is more than one rank.\n"
      "if dist.get_world_size() > 1: model = DistributedDataParallel(model)";
  found.edit = without(facts, seen);
  return found;
}

Candidate of_broadcasts(const Facts& facts, OfDdp seen, std::size_t broadcasts) {
  Candidate found = found_by("ddp", SuggestionType::algorithm, seen.gpu_ns + seen.host_ns);
  show_work(found.words, facts, seen.rows);
  found.words.operation = "DistributedDataParallel.forward";
  found.words.title = "Do not broadcast the model's buffers in every forward pass";
  found.words.description = fmt::format(
      "DistributedDataParallel sends the model's buffers to all ranks before each forward pass: {} "
      "with their copies took {} on the GPU and {} on the host.",
      base::format_plural(broadcasts, "broadcast", "broadcasts"),
      base::format_duration(seen.gpu_ns), base::format_duration(seen.host_ns));
  found.supposes = "if each rank keeps its own buffers";
  found.words.implementation_hint =
      "Each rank then keeps its own statistics of batch normalization; those of rank 0 are usually "
      "the ones that are saved.\n"
      "DistributedDataParallel(model, broadcast_buffers=False)";
  found.edit = without(facts, seen);
  return found;
}

}  // namespace

Candidates rule_ddp(const Facts& facts) {
  const std::vector<bool> forward = names_of_forward(facts.trace);
  if (std::none_of(forward.begin(), forward.end(), [](bool is) { return is; })) return {};
  OfDdp buffers = buffers_of(facts, forward);
  if (facts.trace.run.world_size == 1) {
    OfDdp all = reducer_of(facts);
    if (all.rows.empty()) return {};
    all.rows.insert(all.rows.end(), buffers.rows.begin(), buffers.rows.end());
    all.operations.insert(all.operations.end(), buffers.operations.begin(),
                          buffers.operations.end());
    all.gpu_ns += buffers.gpu_ns;
    all.host_ns += buffers.host_ns;
    return {of_one_rank(facts, std::move(all))};
  }
  const std::size_t broadcasts = add_broadcasts(facts, forward, buffers);
  if (!runs_in_every_step(facts, broadcasts)) return {};
  return {of_broadcasts(facts, std::move(buffers), broadcasts)};
}

}  // namespace fathom::advise
