#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/preparation.h"
#include "advise/rules.h"
#include "base/format.h"

// Trigger  In gaps of the GPU of 10 ms and more, the thread that launches its work prepares data on
//          the CPU: functions of PIL, NumPy, SciPy, PyAV and the like, outside a DataLoader, take 3
//          % of the run.
// Edit     Half of that time, 10 % and nothing is left: on the GPU, or in another process while the
//          GPU works on what came before.
namespace fathom::advise {
namespace {

constexpr double kPreparationTriggerPct = 3;

// "normalize (104.9 ms), astype (29.8 ms), read_video_pyav (24.0 ms)".
std::string largest_parts(const Facts& facts, const std::vector<PreparationPiece>& pieces) {
  std::map<std::string_view, std::int64_t> by_function;
  for (const PreparationPiece& one : pieces) {
    const SpanId span = facts.on.host.span[one.piece];
    by_function[short_function_name(facts.trace.name(span))] += one.time_ns;
  }
  std::vector<std::pair<std::int64_t, std::string_view>> parts;
  for (const auto& [name, time] : by_function) parts.emplace_back(time, name);
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kNamed = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, parts.size()); ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", base::fit(parts[i].second, 40),
                        base::format_duration(static_cast<double>(parts[i].first)));
  }
  return text;
}

bool any_of_transformers(const Facts& facts, const std::vector<PreparationPiece>& pieces) {
  return std::any_of(pieces.begin(), pieces.end(), [&](const PreparationPiece& one) {
    const std::string_view name = facts.trace.name(facts.on.host.span[one.piece]);
    return name.find("transformers/image_") != name.npos;
  });
}

std::string preparation_hint(const Platform& platform, bool is_of_transformers) {
  const std::string words =
      "Do it on the GPU, or in another process while the GPU works on the batch before.";
  if (platform.is_pytorch && is_of_transformers) {
    return words +
           " The fast image processors of Transformers run on the GPU, for the models that have "
           "one.\n"
           "processor = AutoImageProcessor.from_pretrained(name, use_fast=True)\n"
           "inputs = processor(images, device=\"cuda\", return_tensors=\"pt\")";
  }
  return hint_for(
      platform,
      {.words = words,
       .pytorch = "\nDataLoader(dataset, num_workers=4, pin_memory=True)  # transforms run in its "
                  "workers\n"
                  "torchvision.transforms.v2.functional.resize(images.to(\"cuda\"), [224, 224])  "
                  "# or on the GPU",
       .jax = "\nloader = grain.DataLoader(data_source=source, sampler=sampler, "
              "operations=transforms, worker_count=4)\n"
              "images = jax.image.resize(jax.device_put(images), shape, \"bilinear\")  # or on "
              "the GPU"});
}

}  // namespace

Candidates rule_preparation(const Facts& facts) {
  const std::vector<PreparationPiece> pieces = preparation_pieces(facts);
  std::int64_t total = 0;
  for (const PreparationPiece& one : pieces) total += one.time_ns;
  if (facts.share(total) < kPreparationTriggerPct || total == 0) return {};
  std::vector<SpanId> operations;
  for (const PreparationPiece& one : pieces) {
    if (operations.empty() || operations.back() != one.operation) {
      operations.push_back(one.operation);
    }
  }
  Candidate found = found_by("preparation", SuggestionType::algorithm, total);
  show(found.words, facts.trace, operations);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Prepare the data on the GPU or in another process";
  found.words.description = fmt::format(
      "The GPU had nothing to do for {} ({} of the run) while the thread that launches its work "
      "prepared data on the CPU, most of it in {}.",
      base::format_duration(static_cast<double>(total)), base::format_percent(facts.share(total)),
      largest_parts(facts, pieces));
  found.supposes = "if a tenth of that time is left";
  found.words.implementation_hint =
      preparation_hint(facts.platform, any_of_transformers(facts, pieces));
  found.edit = [&facts, pieces](Edits& edits, Effort effort) {
    for (const PreparationPiece& one : pieces) {
      scale_piece(edits, facts.plan, one.piece, pick(effort, 0.5, 0.1, 0.0));
    }
  };
  return {found};
}

}  // namespace fathom::advise
