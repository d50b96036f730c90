#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "advise/rules.h"
#include "base/format.h"

// Trigger  One operation copies the same number of bytes, 1 KB or more, to the GPU 10 times or
//          more, and at least twice per step where there are steps: one batch per step is no
//          repeat, nor are weights that are streamed in (rule_streaming.cpp).
// Edit     All copies but the first go away, with their calls. Whether the bytes are the same
//          cannot be seen in a trace: it is a guess, and the low estimate is nothing.
namespace fathom::advise {
namespace {

constexpr std::int64_t kSmallestBytes = 1024;
constexpr std::size_t kManyRepeats = 10;

using Key = std::tuple<trace::NameId, trace::NameId, std::int64_t>;  // operation, copy, bytes

std::map<Key, std::vector<std::uint32_t>> copies_by_size(const Facts& facts) {
  std::map<Key, std::vector<std::uint32_t>> found;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.type != analyze::WorkType::memory || row.launch == kNoSpan) continue;
    if (facts.direction(row) != TransferDirection::to_gpu) continue;
    const std::int64_t bytes = facts.bytes_of(row.span);
    if (bytes < kSmallestBytes) continue;
    const SpanId caller = facts.caller_of(row.launch);
    found[{facts.spans.name[caller], row.name, bytes}].push_back(i);
  }
  return found;
}

Candidate candidate_of(const Facts& facts, const Key& key, const std::vector<std::uint32_t>& rows) {
  Candidate found;
  std::vector<SpanId> spans;
  for (const std::uint32_t row : rows) {
    found.concerns_ns += facts.on.gpu.rows[row].duration_ns();
    spans.push_back(facts.on.gpu.rows[row].span);
  }
  found.is_a_guess = true;
  found.words.rule = "repeats";
  found.words.type = SuggestionType::caching;
  found.words.operation = facts.trace.names.view(std::get<0>(key));
  found.words.title = "Copy once what does not change";
  found.words.description = fmt::format(
      "{} to the GPU of {} each, all from {}, take {}. If the data is the same, one copy is "
      "enough.",
      base::format_plural(rows.size(), "copy", "copies"),
      base::format_bytes(static_cast<double>(std::get<2>(key))), found.words.operation,
      base::format_duration(static_cast<double>(found.concerns_ns)));
  found.supposes = "if the data is the same each time and stays on the GPU";
  found.words.implementation_hint = hint_for(
      facts.platform,
      {.words = "Copy it before the loop and keep it on the GPU: constants, tables, weights.",
       .pytorch = " Masks and position indices are best registered as buffers of the module.\n"
                  "self.register_buffer(\"mask\", mask)  # moves with the module, once",
       .opencl = "\nclCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, data, "
                 "&error);  // once"});
  show(found.words, facts.trace, std::move(spans));
  found.edit = [&facts, rows](Edits& edits, Effort effort) {
    for (std::size_t i = 1; effort != Effort::low && i < rows.size(); ++i) {
      const SpanId call = facts.on.gpu.rows[rows[i]].launch;
      scale_work(edits, facts.plan, rows[i], 0);
      scale_lag(edits, facts.plan, rows[i], 0);
      ignore_waits_of(edits, facts.plan, call);
      scale_host(edits, facts.plan, call, 0);
    }
  };
  return found;
}

}  // namespace

Candidates rule_repeats(const Facts& facts) {
  if (streams_weights(facts)) return {};  // they all come again
  Candidates found;
  for (const auto& [key, rows] : copies_by_size(facts)) {
    if (rows.size() < kManyRepeats || rows.size() < 2 * facts.steps) continue;
    found.push_back(candidate_of(facts, key, rows));
  }
  keep_largest(found);
  return found;
}

}  // namespace fathom::advise
