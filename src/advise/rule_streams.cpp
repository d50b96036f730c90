#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "advise/kernel_name.h"
#include "advise/rules.h"
#include "analyze/hta/blocks.h"
#include "base/format.h"

// Trigger  One kernel follows itself 8 times or more on its stream, and its blocks fill at most
//          half of the multiprocessors, so that two would fit.
// Edit     As many run at once as there are multiprocessors for their blocks, up to 8: each takes
//          its part of the time, with the lag before it. That they do not depend on each other
//          cannot be seen in a trace; so the low estimate is nothing.
namespace fathom::advise {
namespace {

constexpr std::size_t kSerialRun = 8;
constexpr std::int64_t kMostAtOnce = 8;
constexpr std::int64_t kNotTinyNs = 10'000;  // shorter ones are the matter of `batching`

std::optional<std::int64_t> multiprocessors(const trace::Trace& trace) {
  std::optional<std::int64_t> found;
  for (const trace::DeviceInfo& device : trace.run.devices) {
    if (device.multiprocessors && !found) found = device.multiprocessors;
  }
  return found;
}

struct Serial {
  std::int64_t at_once = 1;
  std::int64_t blocks = 0;
  std::int64_t work_ns = 0;
  std::vector<std::uint32_t> rows;
};

// By kernel and blocks.
using SerialKernels = std::map<std::pair<trace::NameId, std::int64_t>, Serial>;

SerialKernels serial_kernels(const Facts& facts, std::int64_t processors) {
  SerialKernels found;
  const std::vector<WorkRow>& rows = facts.on.gpu.rows;
  for (const analyze::GpuStream& stream : facts.on.gpu.streams) {
    const std::size_t end = stream.first + stream.count;
    for (std::size_t first = stream.first; first < end;) {
      std::size_t last = first + 1;
      while (last < end && rows[last].name == rows[first].name) ++last;
      const bool counts = last - first >= kSerialRun &&
                          rows[first].type == analyze::WorkType::compute &&
                          rows[first].duration_ns() >= kNotTinyNs;
      if (counts) {
        const std::int64_t blocks = std::max<std::int64_t>(
            1, analyze::blocks_of(facts.trace.args(rows[first].span)).value_or(processors));
        Serial& serial = found[{rows[first].name, blocks}];
        serial.blocks = blocks;
        serial.at_once = std::min(kMostAtOnce, processors / blocks);
        for (std::size_t i = first; serial.at_once > 1 && i < last; ++i) {
          serial.work_ns += rows[i].duration_ns();
          serial.rows.push_back(static_cast<std::uint32_t>(i));
        }
      }
      first = last;
    }
  }
  return found;
}

Candidate candidate_of(const Facts& facts, trace::NameId name, const Serial& serial,
                       std::int64_t processors) {
  Candidate found = found_by("streams", SuggestionType::parallelization, serial.work_ns);
  found.words.operation = facts.trace.names.view(name);
  const bool multiplies =
      facts.on.gpu.rows[serial.rows.front()].kernel_class == analyze::KernelClass::gemm;
  found.words.title = "Run small kernels side by side";
  found.words.description = fmt::format(
      "{} of {} one after another, {} in total, each with {} on {} multiprocessors: most of the "
      "GPU "
      "is idle.",
      base::format_plural(serial.rows.size(), "call", "calls"),
      base::fit(kernel_base_name(found.words.operation), 60),
      base::format_duration(static_cast<double>(serial.work_ns)),
      base::format_plural(static_cast<std::uint64_t>(serial.blocks), "block", "blocks"),
      processors);
  found.supposes =
      fmt::format("if they do not depend on each other and {} run at once", serial.at_once);
  found.words.implementation_hint = hint_for(
      facts.platform,
      {.words = "Combine them into one larger launch, or let them run concurrently",
       .pytorch = multiplies
                      ? ": batched products, or several streams.\n"
                        "torch.bmm(a, b)  # instead of torch.mm in a loop"
                      : ": one larger tensor instead of many small ones, or several streams.\n"
                        "with torch.cuda.stream(streams[i % 8]): part(i)",
       .cuda = ": a larger grid, batched products, or several streams.\n"
               "kernel<<<blocks, threads, 0, streams[i % 8]>>>(part[i]);",
       .opencl = ": a larger NDRange, several command queues, or an out-of-order queue.\n"
                 "clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, "
                 "&error);"});
  show_work(found.words, facts, serial.rows);
  found.edit = [&facts, serial](Edits& edits, Effort effort) {
    const double part = 1.0 / static_cast<double>(serial.at_once);
    const double factor = pick(effort, 1.0, part, part);
    for (const std::uint32_t row : serial.rows) {
      scale_work(edits, facts.plan, row, factor);
      scale_lag(edits, facts.plan, row, factor);
    }
  };
  return found;
}

}  // namespace

Candidates rule_streams(const Facts& facts) {
  const std::optional<std::int64_t> processors = multiprocessors(facts.trace);
  if (!processors || *processors <= 0) return {};
  Candidates found;
  for (const auto& [kernel, serial] : serial_kernels(facts, *processors)) {
    if (serial.rows.empty()) continue;
    found.push_back(candidate_of(facts, kernel.first, serial, *processors));
  }
  keep_largest(found);
  return found;
}

}  // namespace fathom::advise
