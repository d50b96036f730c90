#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/contains.h"
#include "base/format.h"

// Batches     Trigger  Copies of 1 MB or more from pageable memory, or during which their call
//                      waits, take over 1 % of the run on the GPU or in their calls. Not where the
//                      call takes more than five times as long as the copy: it waits for other work
//                      then, and pinned memory does not change that.
//             Edit     Copies to the GPU no longer hold the host up. Low: that alone. Mid and high:
//                      the copies take what pinned memory allows, at 12 GB/s (25 GB/s on GPUs since
//                      Ampere, which have PCIe 4) and at 25 GB/s.
// Results     The same of copies to pageable memory of the host, by what the copies take. That the
//             host waits for them is what reading is, and pinned memory does not change it.
// Exposed     Trigger  Pinned copies with nothing beside them on their GPU take over 5 % of the
//                      run, and are not weights that are streamed in (rule_streaming.cpp).
//             Edit     30, 70 and 100 % of that goes on beside compute, as far as there is any.
namespace fathom::advise {
namespace {

constexpr double kBlockingPct = 1;
constexpr double kExposedPct = 5;
constexpr std::int64_t kBatchBytes = 1'000'000;
constexpr std::int64_t kBatchNs = 40'000;  // 1 MB at 25 GB/s, for copies that do not say their size
constexpr std::int64_t kWaitsForOthers = 5;  // times the copy, in the call
constexpr double kPcie3BytesPerNs = 12;
constexpr double kPcie4BytesPerNs = 25;
constexpr std::int64_t kCallNs = 10'000;  // what a call that does not wait takes

struct BatchCopy {
  std::uint32_t row = 0;
  bool blocks = false;  // its call returned only when it was over
};

struct BatchCopies {
  std::vector<BatchCopy> rows;
  std::int64_t gpu_ns = 0;
  std::int64_t blocking_ns = 0;  // the longer of call and copy
  std::int64_t bytes = 0;
};

bool is_batch(const Facts& facts, const WorkRow& row) {
  const std::int64_t bytes = facts.bytes_of(row.span);
  return bytes > 0 ? bytes >= kBatchBytes : row.duration_ns() >= kBatchNs;
}

bool is_pinned(const Facts& facts, const WorkRow& row) {
  return base::contains(facts.trace.names.view(row.name), "Pinned");
}

BatchCopies batch_copies(const Facts& facts, TransferDirection direction) {
  BatchCopies found;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.type != WorkType::memory || facts.direction(row) != direction) continue;
    if (!is_batch(facts, row) || is_pinned(facts, row)) continue;
    const bool is_pageable = base::contains(facts.trace.names.view(row.name), "Pageable");
    const bool blocks = row.launch != kNoSpan &&
                        (facts.spans.end_ns(row.launch) >= row.end_ns || facts.is_wait(row.launch));
    if (!is_pageable && !(blocks && direction == TransferDirection::to_gpu)) continue;
    const std::int64_t call = row.launch == kNoSpan ? 0 : facts.spans.duration_ns[row.launch];
    if (call > kWaitsForOthers * row.duration_ns()) continue;
    found.rows.push_back({i, blocks});
    found.gpu_ns += row.duration_ns();
    const bool counts_call = blocks && direction == TransferDirection::to_gpu;
    found.blocking_ns += std::max(row.duration_ns(), counts_call ? call : 0);
    found.bytes += facts.bytes_of(row.span);
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

std::string rate_of(const BatchCopies& seen) {
  if (seen.bytes <= 0 || seen.gpu_ns <= 0) return {};
  return fmt::format(" ({:.1f} GB/s)",
                     static_cast<double>(seen.bytes) / static_cast<double>(seen.gpu_ns));
}

void add_batches(const Facts& facts, TransferDirection direction, Candidates& into) {
  const BatchCopies seen = batch_copies(facts, direction);
  if (facts.share(seen.blocking_ns) < kBlockingPct) return;
  const bool to_gpu = direction == TransferDirection::to_gpu;
  const double usual =
      facts.platform.tensor_cores == TensorCores::with_tf32 ? kPcie4BytesPerNs : kPcie3BytesPerNs;
  Candidate found = found_by("copies", SuggestionType::memory, seen.blocking_ns);
  std::vector<std::uint32_t> rows;
  for (const BatchCopy& copy : seen.rows) rows.push_back(copy.row);
  show_work(found.words, facts, rows);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = to_gpu ? "Copy from pinned memory, without waiting"
                             : "Copy into pinned memory, without waiting";
  found.words.description = fmt::format(
      "{} {} of 1 MB or more took {}{}. Their memory on the host is pageable{}: {} ({} of the "
      "run).",
      base::format_plural(rows.size(), "copy", "copies"), to_gpu ? "to the GPU" : "to the host",
      base::format_duration(seen.gpu_ns), rate_of(seen),
      to_gpu ? ", or the host waited for them" : "", base::format_duration(seen.blocking_ns),
      base::format_percent(facts.share(seen.blocking_ns)));
  found.supposes =
      fmt::format("if they {}run at {} GB/s", to_gpu ? "do not hold up the host and " : "", usual);
  found.words.implementation_hint =
      to_gpu ? copies_hint(facts.platform) : results_hint(facts.platform);
  found.edit = [&facts, seen, to_gpu, usual](Edits& edits, Effort effort) {
    for (const BatchCopy& copy : seen.rows) {
      const WorkRow& row = facts.on.gpu.rows[copy.row];
      if (to_gpu && copy.blocks) free_the_host(edits, facts, row);
      if (effort == Effort::low) continue;
      const double rate = effort == Effort::mid ? usual : kPcie4BytesPerNs;
      scale_work(edits, facts.plan, copy.row, left_at(facts, row, rate));
    }
  };
  into.push_back(std::move(found));
}

struct ExposedCopies {
  std::vector<std::pair<std::uint32_t, std::int64_t>> rows;  // and how long each was alone
  std::int64_t alone_ns = 0;
  std::int64_t compute_ns = 0;
};

ExposedCopies exposed_copies(const Facts& facts) {
  ExposedCopies found;
  for (const analyze::DeviceWork& device : facts.on.gpu.devices) {
    std::vector<Interval> kernels;
    for (const std::uint32_t i : device.by_start) {
      const WorkRow& row = facts.on.gpu.rows[i];
      if (row.type != WorkType::memory) kernels.push_back({row.start_ns, row.end_ns});
    }
    const base::IntervalSet busy = base::normalize(std::move(kernels));
    found.compute_ns += base::total_length(busy);
    for (const std::uint32_t i : device.by_start) {
      const WorkRow& row = facts.on.gpu.rows[i];
      if (row.type != WorkType::memory || !is_pinned(facts, row)) continue;
      if (facts.direction(row) == TransferDirection::other) continue;
      const std::int64_t alone =
          row.duration_ns() - base::length_within(busy, {row.start_ns, row.end_ns});
      if (alone <= 0) continue;
      found.rows.emplace_back(i, alone);
      found.alone_ns += alone;
    }
  }
  return found;
}

void add_exposed(const Facts& facts, Candidates& into) {
  const ExposedCopies seen = exposed_copies(facts);
  const auto gpus =
      static_cast<std::int64_t>(std::max<std::size_t>(1, facts.on.gpu.devices.size()));
  if (facts.share(seen.alone_ns / gpus) < kExposedPct || streams_weights(facts)) return;
  Candidate found = found_by("copies", SuggestionType::parallelization, seen.alone_ns);
  std::vector<std::uint32_t> rows;
  for (const auto& [row, alone] : seen.rows) rows.push_back(row);
  show_work(found.words, facts, rows);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Copy the next data while the GPU computes";
  found.words.description = fmt::format(
      "During {} ({} of the run) of {} between host and GPU, from pinned memory, the GPU did "
      "nothing else.",
      base::format_duration(seen.alone_ns / gpus),
      base::format_percent(facts.share(seen.alone_ns / gpus)),
      base::format_plural(rows.size(), "copy", "copies"));
  found.supposes = "if 70 % of it overlaps compute";
  found.words.implementation_hint = hint_for(
      facts.platform,
      {.words = "Copy what the next step needs on a separate stream while this one computes, and "
                "let the compute stream wait for an event.",
       .pytorch = "\nwith torch.cuda.stream(copy_stream): "
                  "next_batch = batch.to(\"cuda\", non_blocking=True)\n"
                  "torch.cuda.current_stream().wait_stream(copy_stream)  # before it is used",
       .cuda = "\ncudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, copy_stream);\n"
               "cudaStreamWaitEvent(compute_stream, copied, 0);  // before it is used"});
  found.edit = [&facts, seen](Edits& edits, Effort effort) {
    const double room = static_cast<double>(seen.compute_ns) / static_cast<double>(seen.alone_ns);
    const double hidden = std::min(pick(effort, 0.3, 0.7, 1.0), room);
    for (const auto& [row, alone] : seen.rows) {
      const auto whole = static_cast<double>(facts.on.gpu.rows[row].duration_ns());
      scale_work(edits, facts.plan, row, 1 - hidden * static_cast<double>(alone) / whole);
    }
  };
  into.push_back(std::move(found));
}

}  // namespace

Candidates rule_copies(const Facts& facts) {
  Candidates found;
  add_batches(facts, TransferDirection::to_gpu, found);
  add_batches(facts, TransferDirection::from_gpu, found);
  add_exposed(facts, found);
  return found;
}

}  // namespace fathom::advise
