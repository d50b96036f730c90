#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "advise/rules.h"
#include "base/format.h"
#include "trace/framework_names.h"

// Trigger  Communication with no other GPU work beside it takes over 5 % of the run, and less than
//          70 % of all communication is covered. All-reduces that are too small to be hidden are
//          the matter of `buckets`; what is seen to wait for a late rank or a slow link, of
//          `late_rank` and `link`.
// Edit     Of the uncovered part of each collective 30, 70 and 100 % goes on beside compute, but no
//          more than there is compute to hide it behind. What a collective waits for other ranks is
//          in it, for one rank cannot tell.
namespace fathom::advise {
namespace {

constexpr double kOverlapTriggerPct = 5;
constexpr double kEnoughOverlapPct = 70;
constexpr double kMostlyTail = 0.5;

struct Communication {
  std::vector<CollectiveWork> rows;  // with any time alone
  std::int64_t total_ns = 0;
  std::int64_t uncovered_ns = 0;
  std::int64_t exposed_ns = 0;          // the same without what other rules explain
  std::int64_t free_compute_ns = 0;     // compute with no communication beside it
  std::int64_t tail_ns = 0;             // of the exposed: with only the optimizer after it
  Exchange exchange = Exchange::other;  // that most of the exposed time is
  bool knows_waiting = false;           // and does not count it
};

base::IntervalSet time_of(const Facts& facts, bool communicates) {
  std::vector<Interval> time;
  for (const WorkRow& row : facts.on.gpu.rows) {
    if ((row.type == WorkType::communication) == communicates) {
      time.push_back({row.start_ns, row.end_ns});
    }
  }
  return base::normalize(std::move(time));
}

// What follows it on its GPU was launched by an optimizer: the backward pass was over, and there
// was nothing left to hide it behind.
std::int64_t tail_of(const Facts& facts, const std::vector<CollectiveWork>& rows) {
  const std::vector<bool> steps = names_that(
      facts.trace, [](std::string_view name) { return name.starts_with(trace::kOptimizerStep); });
  std::int64_t tail = 0;
  for (const analyze::DeviceWork& device : facts.on.gpu.devices) {
    const auto begins_before = [&](std::uint32_t row, std::int64_t time) {
      return facts.on.gpu.rows[row].start_ns < time;
    };
    for (const CollectiveWork& one : rows) {
      const auto next = std::lower_bound(device.by_start.begin(), device.by_start.end(),
                                         facts.on.gpu.rows[one.row].end_ns, begins_before);
      if (next == device.by_start.end()) continue;
      const SpanId launch = facts.on.gpu.rows[*next].launch;
      if (innermost_around(facts.spans, launch, steps) != kNoSpan) tail += one.alone_ns;
    }
  }
  return tail;
}

Communication communication_of(const Facts& facts) {
  const base::IntervalSet others = time_of(facts, false);
  const base::IntervalSet exchange = time_of(facts, true);
  const bool without_reduces = has_tiny_all_reduces(facts);
  const std::vector<std::int64_t> explained = explained_exchange_ns(facts);
  Communication found;
  found.free_compute_ns = base::total_length(base::subtract(others, exchange));
  std::array<std::int64_t, 7> by_exchange = {};
  std::vector<Interval> concerned;
  std::int64_t not_to_hide = 0;
  for (CollectiveWork one : facts.collectives) {
    if (without_reduces && one.exchange == Exchange::all_reduce) continue;
    const WorkRow& row = facts.on.gpu.rows[one.row];
    concerned.push_back({row.start_ns, row.end_ns});
    const std::int64_t other_cause = std::min(one.alone_ns, explained[one.row]);
    one.alone_ns -= other_cause;
    not_to_hide += other_cause;
    if (one.alone_ns <= 0) continue;
    found.rows.push_back(one);
    by_exchange[static_cast<std::size_t>(one.exchange)] += one.alone_ns;
  }
  const base::IntervalSet time = base::normalize(std::move(concerned));
  found.total_ns = base::total_length(time);
  const auto gpus =
      static_cast<std::int64_t>(std::max<std::size_t>(1, facts.on.gpu.devices.size()));
  found.uncovered_ns = base::total_length(base::subtract(time, others));
  found.exposed_ns = std::max<std::int64_t>(0, found.uncovered_ns - not_to_hide / gpus);
  found.knows_waiting = not_to_hide > 0;
  const auto most = std::max_element(by_exchange.begin(), by_exchange.end());
  found.exchange = static_cast<Exchange>(most - by_exchange.begin());
  return found;
}

constexpr const char* kStartEarly =
    "Start collectives as soon as their data is ready, on a separate stream, and wait for them "
    "only where the result is used. To see whether one rank is late: fathom hta on the traces of "
    "all ranks.";
constexpr const char* kShorterTail =
    "What is exchanged after the backward pass has nothing left to overlap. More compute per "
    "exchange hides it: a larger batch per GPU, or several batches per exchange. Smaller buckets "
    "leave less for the end. To see whether one rank is late: fathom hta on the traces of all "
    "ranks.";

// Parameters that are gathered for a layer can be under way while the one before it computes.
std::string sharding_hint(Sharding sharding) {
  const std::string words =
      "Gather the parameters of the next layers while this one computes. Where a layer computes "
      "too briefly to hide that, use a larger batch per GPU, or shard within each machine only. To "
      "see whether one rank is late: fathom hta on the traces of all ranks.\n";
  if (sharding == Sharding::wrapper) {
    return words + "FullyShardedDataParallel(model, forward_prefetch=True, limit_all_gathers=True)";
  }
  return words +
         "for layer, after in zip(layers, layers[1:]):\n"
         "    layer.set_modules_to_forward_prefetch([after])\n"
         "    after.set_modules_to_backward_prefetch([layer])";
}

// What is exchanged tells which call it was: gradients are reduced, embeddings sent around.
std::string overlap_hint(const Platform& platform, const Communication& seen, bool is_tail) {
  if (!platform.is_pytorch) {
    return hint_for(platform,
                    {.words = kStartEarly,
                     .jax = "\nXLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true",
                     .cuda = "\ncudaStreamWaitEvent(compute, received, 0);  // only before what "
                             "needs the result"});
  }
  const bool is_of_shards =
      seen.exchange == Exchange::all_gather || seen.exchange == Exchange::reduce_scatter;
  if (platform.sharding != Sharding::none && is_of_shards) return sharding_hint(platform.sharding);
  if (is_tail) {
    constexpr const char* kWithoutExchange =
        "\nwith model.no_sync():  # for all but the last of several batches\n"
        "    loss(model(batch)).backward()";
    return std::string(kShorterTail) + (platform.is_ddp ? kWithoutExchange : "");
  }
  if (seen.exchange == Exchange::all_reduce && platform.is_ddp) {
    return std::string(kStartEarly) +
           "\nDistributedDataParallel(model, bucket_cap_mb=50, gradient_as_bucket_view=True)";
  }
  std::string_view call;
  if (seen.exchange == Exchange::all_reduce) call = "all_reduce(data";
  if (seen.exchange == Exchange::all_gather) call = "all_gather_into_tensor(out, data";
  if (seen.exchange == Exchange::reduce_scatter) call = "reduce_scatter_tensor(out, data";
  if (seen.exchange == Exchange::all_to_all) call = "all_to_all_single(out, data";
  if (call.empty()) return kStartEarly;
  return fmt::format(
      "{}\nwork = dist.{}, async_op=True)\n...  # compute that does not need it\nwork.wait()",
      kStartEarly, call);
}

}  // namespace

std::vector<std::int64_t> explained_exchange_ns(const Facts& facts) {
  std::vector<std::int64_t> ns(facts.on.gpu.rows.size());
  add_waiting(facts, ns);
  add_slow_links(facts, ns);
  return ns;
}

Candidates rule_overlap(const Facts& facts) {
  Communication seen = communication_of(facts);
  if (facts.share(seen.exposed_ns) < kOverlapTriggerPct) return {};
  const double overlap_pct =
      100 - static_cast<double>(seen.uncovered_ns) * 100 / static_cast<double>(seen.total_ns);
  if (overlap_pct >= kEnoughOverlapPct) return {};
  seen.tail_ns = tail_of(facts, seen.rows);
  const bool is_tail =
      seen.exchange == Exchange::all_reduce &&
      static_cast<double>(seen.tail_ns) > kMostlyTail * static_cast<double>(seen.exposed_ns);

  Candidate found = found_by("overlap", SuggestionType::parallelization, seen.exposed_ns);
  found.words.title =
      is_tail ? "Hide the last gradients behind compute" : "Hide communication behind compute";
  std::vector<CollectiveWork> by_time = seen.rows;
  std::stable_sort(
      by_time.begin(), by_time.end(),
      [](const CollectiveWork& a, const CollectiveWork& b) { return a.alone_ns > b.alone_ns; });
  std::vector<SpanId> spans;
  for (const CollectiveWork& one : by_time) spans.push_back(facts.on.gpu.rows[one.row].span);
  found.words.operation = facts.trace.name(spans.front());
  const std::string mostly =
      seen.exchange == Exchange::other
          ? ""
          : fmt::format(", mostly in {}", is_tail ? "all-reduces after the backward pass"
                                                  : fmt::format("{}s", name_of(seen.exchange)));
  found.words.description = fmt::format(
      "For {} ({} of the run) the GPU did nothing but communicate{}; {} of all communication "
      "overlapped other work. {}",
      base::format_duration(seen.exposed_ns), base::format_percent(facts.share(seen.exposed_ns)),
      mostly, base::format_percent(overlap_pct),
      seen.knows_waiting ? "Waiting for a late rank or a slow link is not counted."
                         : "This includes waiting for slower ranks.");
  found.supposes = "if 70 % of it overlaps compute";
  found.words.implementation_hint = overlap_hint(facts.platform, seen, is_tail);
  show_in_order(found.words, std::move(spans));
  found.edit = [&facts, seen](Edits& edits, Effort effort) {
    const double room = static_cast<double>(seen.free_compute_ns) /
                        static_cast<double>(std::max<std::int64_t>(1, seen.exposed_ns));
    const double hidden = std::min(pick(effort, 0.3, 0.7, 1.0), room);
    for (const CollectiveWork& one : seen.rows) {
      shorten_work(edits, facts.plan, one.row, hidden * static_cast<double>(one.alone_ns));
    }
  };
  return {found};
}

}  // namespace fathom::advise
