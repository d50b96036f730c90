#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "advise/floor.h"
#include "advise/kernel_name.h"
#include "advise/rules.h"
#include "analyze/efficiency/peaks.h"
#include "base/contains.h"
#include "base/format.h"

// Trigger  One kernel has over half of the time of all GPU work, and over 5 % of the run. Not where
//          `precision` speaks of it, nor where its operations have known work and it does that as
//          well as can be expected: 60 % of the peak (40 on AMD), 75 % of the memory bandwidth.
// Edit     It takes 5, 10 and 25 % less time. A trace has no counters that tell how far it is from
//          what the GPU could do: this says what making it faster is worth, not that it can be.
namespace fathom::advise {
namespace {

constexpr double kOfWork = 0.5;
constexpr double kDominantTriggerPct = 5;

struct Total {
  std::int64_t ns = 0;
  std::vector<std::uint32_t> rows;
};

// A profiler that measures one kernel, for the GPUs that have one. A name within a pattern may be
// cut: the rest matches too.
std::string command_for(const Facts& facts, std::string_view name) {
  constexpr std::size_t kLongest = 60;
  constexpr std::size_t kLongestCommand = 200;
  if (!is_plain_name(name)) return {};
  const std::string& command = facts.trace.run.command;
  const std::string program = command.empty() ? "PROGRAM" : base::fit(command, kLongestCommand);
  const std::string_view pattern = name.substr(0, kLongest);
  if (facts.platform.runtime == Runtime::cuda) {
    return fmt::format("\nncu --set full --launch-count 3 --kernel-name regex:{} -- {}", pattern,
                       program);
  }
  if (facts.platform.runtime == Runtime::hip) {
    return fmt::format("\nrocprof-compute profile --name run --kernel {} -- {}", pattern, program);
  }
  return {};
}

// How much of what the GPU can do the operations reach that ran it, in per cent; nothing where the
// work of one of them is not known.
struct Reached {
  double pct = 0;
  bool is_by_memory = false;
};

std::optional<Reached> reached_by(const Facts& facts, const std::vector<std::uint32_t>& rows) {
  Floors floors(facts);
  Floor all;
  std::int64_t time_ns = 0;
  for (const std::uint32_t row : rows) {
    const std::optional<Floor> one = floors.of(facts.on.gpu.rows[row]);
    if (!one) return std::nullopt;
    all.memory_ns += one->memory_ns;
    all.arithmetic_ns += one->arithmetic_ns;
    time_ns += facts.on.gpu.rows[row].duration_ns();
  }
  if (time_ns <= 0) return std::nullopt;
  return Reached{all.ns() * 100 / static_cast<double>(time_ns), all.is_by_memory()};
}

bool is_as_good_as_expected(const Facts& facts, const Reached& reached) {
  constexpr double kGoodBandwidthPct = 75;
  return reached.pct >=
         (reached.is_by_memory ? kGoodBandwidthPct : analyze::good_gemm_pct(facts.gpu_name));
}

// Kernels of libraries, which those who call them do not write.
bool is_of_library(std::string_view kernel) {
  constexpr std::array<std::string_view, 11> kParts = {"flash",  "fmha",       "cutlass", "cudnn",
                                                       "xmma",   "nvjet_",     "gemm",    "Cijk_",
                                                       "cublas", "at::native", "ck::"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return base::contains(kernel, part); });
}

std::string dominant_hint(const Facts& facts, std::string_view kernel, std::string_view name) {
  if (is_of_library(kernel)) {
    return fmt::format(
        "{} is a library's: give it less to do (shapes, masks, data types, work done twice), or "
        "try a newer version. Measure first how far it is from what memory and arithmetic units "
        "can do.{}",
        base::fit(name, 60), command_for(facts, name));
  }
  return fmt::format(
      "Measure how far {} is from what memory and arithmetic units can do; then try a better "
      "algorithm, layout, precision or library call.{}",
      base::fit(name, 60), command_for(facts, name));
}

}  // namespace

Candidates rule_dominant(const Facts& facts) {
  std::map<trace::NameId, Total> totals;
  for (std::uint32_t i = 0; i < facts.on.gpu.rows.size(); ++i) {
    const WorkRow& row = facts.on.gpu.rows[i];
    if (row.type != analyze::WorkType::compute) continue;
    totals[row.name].ns += row.duration_ns();
    totals[row.name].rows.push_back(i);
  }
  const auto most =
      std::max_element(totals.begin(), totals.end(),
                       [](const auto& a, const auto& b) { return a.second.ns < b.second.ns; });
  if (most == totals.end() || facts.share(most->second.ns) < kDominantTriggerPct) return {};
  const Total& total = most->second;
  const double of_work = static_cast<double>(total.ns) / static_cast<double>(facts.work_ns);
  if (of_work <= kOfWork || wants_tensor_cores(facts, most->first)) return {};
  const std::optional<Reached> reached = reached_by(facts, total.rows);
  if (reached && is_as_good_as_expected(facts, *reached)) return {};

  Candidate found = found_by("dominant", SuggestionType::algorithm, total.ns);
  found.words.operation = facts.trace.names.view(most->first);
  const std::string_view name = kernel_base_name(found.words.operation);
  // No figure in it: ranks whose titles are equal are joined.
  const std::string shown = base::fit(name, 40);
  found.words.title = is_of_library(found.words.operation)
                          ? fmt::format("Give {} less to do: it takes the most GPU time", shown)
                          : fmt::format("Optimise {} first: it takes the most GPU time", shown);
  found.words.description =
      fmt::format("{} of {} {} {} of all GPU time ({}){}.",
                  base::format_plural(total.rows.size(), "call", "calls"), base::fit(name, 60),
                  total.rows.size() == 1 ? "takes" : "take", base::format_percent(of_work * 100),
                  base::format_duration(static_cast<double>(total.ns)),
                  reached ? fmt::format(", at {} of {}", base::format_percent(reached->pct),
                                        reached->is_by_memory ? "the memory bandwidth" : "the peak")
                          : "");
  found.supposes = "if it takes 10 % less";
  found.words.implementation_hint = dominant_hint(facts, found.words.operation, name);
  show_work(found.words, facts, total.rows);
  found.edit = [&facts, rows = total.rows](Edits& edits, Effort effort) {
    for (const std::uint32_t row : rows) {
      scale_work(edits, facts.plan, row, pick(effort, 0.95, 0.9, 0.75));
    }
  };
  return {found};
}

}  // namespace fathom::advise
