#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  Copies from or to pageable memory, or during which their call waits, take over 1 % of
//          the run on the GPU or in their calls; or all copies between host and GPU take over 5 %.
// Edit     Copies to the GPU no longer hold the host up. Low: that alone. Mid and high: the copies,
//          both ways, take what pinned memory allows, at 12 and 25 GB/s.
namespace fathom::advise {
namespace {

constexpr double kBlockingPct = 1;
constexpr double kCopiesTriggerPct = 5;
constexpr double kUsualBytesPerNs = 12;   // pinned memory, PCIe 3 ×16
constexpr double kFastBytesPerNs = 25;    // PCIe 4 ×16
constexpr std::int64_t kCallNs = 10'000;  // what a call that does not wait takes

struct Copy {
  std::uint32_t row = 0;
  bool blocks = false;  // its call returned only when it was over
  bool to_gpu = false;
  bool is_slow = false;  // it blocks or is pageable
};

struct Copies {
  std::vector<Copy> all;
  bool any_to_gpu = false;
  bool all_block = true;
  std::int64_t time_ns = 0;
  std::int64_t blocking_ns = 0;  // of those that block or are pageable: the longer of call and copy
  std::uint64_t blocking = 0;
  bool all_pinned = true;
};

Copies copies_of(const Facts& facts) {
  Copies found;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.type != WorkType::memory) continue;
    const std::string_view name = facts.trace.names.view(row.name);
    const TransferDirection direction = facts.direction(row);
    if (direction == TransferDirection::other) continue;
    const bool is_pageable = name.find("Pageable") != name.npos;
    const bool blocks = row.launch != kNoSpan &&
                        (facts.spans.end_ns(row.launch) >= row.end_ns || facts.is_wait(row.launch));
    found.all.push_back({i, blocks, direction == TransferDirection::to_gpu, blocks || is_pageable});
    found.any_to_gpu |= direction == TransferDirection::to_gpu;
    found.all_block &= blocks;
    found.time_ns += row.duration_ns();
    found.all_pinned &= name.find("Pinned") != name.npos;
    if (!blocks && !is_pageable) continue;
    ++found.blocking;
    const std::int64_t call = blocks ? facts.spans.duration_ns[row.launch] : 0;
    found.blocking_ns += std::max(row.duration_ns(), call);
  }
  return found;
}

// What is left of a copy at this rate; copies that do not say their size stay as they are.
double left_at(const Facts& facts, const WorkRow& row, double bytes_per_ns) {
  const auto bytes = static_cast<double>(facts.bytes_of(row.span));
  const auto time = static_cast<double>(row.duration_ns());
  return bytes <= 0 || time <= 0 ? 1 : std::min(1.0, bytes / bytes_per_ns / time);
}

void free_the_host(Edits& edits, const Facts& facts, const WorkRow& row) {
  ignore_waits_of(edits, facts.plan, row.launch);
  const auto call = static_cast<double>(facts.spans.duration_ns[row.launch]);
  const double left = static_cast<double>(kCallNs) / call;
  if (left < 1) scale_host(edits, facts.plan, row.launch, left);
}

constexpr const char* kGoodHint =
    "The memory is pinned and nothing waits: copy less, in smaller types, or alongside the work "
    "of another stream.";

// What a result takes on its way back.
std::string results_hint(const Platform& platform) {
  return hint_for(
      platform,
      {.words = "Copy into pinned host memory without blocking, and wait for an event where the "
                "result is used.",
       .pytorch = "\nhost = torch.empty_like(result, device=\"cpu\", pin_memory=True)  # once\n"
                  "host.copy_(result, non_blocking=True)",
       .cuda = "\ncudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, copy_stream);\n"
               "cudaEventRecord(copied, copy_stream);",
       .opencl = "\nclEnqueueReadBuffer(copy_queue, from, CL_FALSE, 0, bytes, to, 0, NULL, "
                 "&copied);"});
}

// Where all of them are copies to the host and each was waited for, that is what there is to say.
std::string copies_seen(const Facts& facts, const Copies& seen) {
  const std::string time = base::format_duration(static_cast<double>(seen.time_ns));
  const std::string blocked = base::format_duration(static_cast<double>(seen.blocking_ns));
  const std::string share = base::format_percent(facts.share(seen.blocking_ns));
  if (!seen.any_to_gpu && seen.all_block) {
    return fmt::format(
        "{} to the host: {} on the GPU, but the host waited {} ({} of the run) for {}.",
        base::format_plural(seen.all.size(), "copy", "copies"), time, blocked, share,
        seen.all.size() == 1 ? "it" : "them");
  }
  if (seen.blocking == 0) {
    return fmt::format("{} {} took {}.", base::format_plural(seen.all.size(), "copy", "copies"),
                       seen.any_to_gpu ? "between host and GPU" : "to the host", time);
  }
  return fmt::format(
      "{} {} took {}; {} of them held up the host or used pageable memory, for {} ({} of the run).",
      base::format_plural(seen.all.size(), "copy", "copies"),
      seen.any_to_gpu ? "between host and GPU" : "to the host", time,
      base::format_count(seen.blocking), blocked, share);
}

std::string copies_hint(const Platform& platform) {
  return hint_for(
      platform,
      {.words = "Pin the source memory, and copy without blocking, before the data is "
                "needed and alongside other work.",
       .pytorch = "\nloader = DataLoader(dataset, pin_memory=True)\n"
                  "batch = batch.to(\"cuda\", non_blocking=True)",
       .cuda = "\ncudaHostRegister(from, bytes, 0);  // pins it, once\n"
               "cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, copy_stream);",
       .opencl =
           "\nclCreateBuffer(context, CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &error);  // mapped, "
           "to copy from\n"
           "clEnqueueWriteBuffer(copy_queue, to, CL_FALSE, 0, bytes, from, 0, NULL, &done);"});
}

}  // namespace

Candidates rule_copies(const Facts& facts) {
  const Copies seen = copies_of(facts);
  const bool is_blocking = facts.share(seen.blocking_ns) >= kBlockingPct;
  if (!is_blocking && facts.share(seen.time_ns) < kCopiesTriggerPct) return {};
  Candidate found =
      found_by("copies", SuggestionType::memory, std::max(seen.time_ns, seen.blocking_ns));
  std::vector<SpanId> spans;
  for (const Copy& copy : seen.all) {
    if (copy.is_slow || !is_blocking) spans.push_back(facts.on.gpu.rows[copy.row].span);
  }
  show(found.words, facts.trace, spans);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  const bool is_good = seen.all_pinned && !is_blocking;
  found.words.title = is_good           ? "Copy less, or alongside other work"
                      : seen.any_to_gpu ? "Copy from pinned memory, without waiting"
                                        : "Copy into pinned memory, without waiting";
  found.words.description = copies_seen(facts, seen);
  found.supposes = is_good || !seen.any_to_gpu
                       ? "if they run at 12 GB/s"
                       : "if copies to the GPU do not hold up the host and run at 12 GB/s";
  found.words.implementation_hint = is_good           ? kGoodHint
                                    : seen.any_to_gpu ? copies_hint(facts.platform)
                                                      : results_hint(facts.platform);
  found.edit = [&facts, all = seen.all](Edits& edits, Effort effort) {
    for (const Copy& copy : all) {
      const WorkRow& row = facts.on.gpu.rows[copy.row];
      if (copy.to_gpu && copy.blocks) free_the_host(edits, facts, row);
      if (effort == Effort::low) continue;
      const double rate = effort == Effort::mid ? kUsualBytesPerNs : kFastBytesPerNs;
      scale_work(edits, facts.plan, copy.row, left_at(facts, row, rate));
    }
  };
  return {found};
}

}  // namespace fathom::advise
