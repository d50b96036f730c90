#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "base/format.h"

// Of a profile that has the times of operations and no trace of what depended on what. Each gain is
// a bound: more than this the operation cannot save.
//
//   routing          GPU work, under 1 ms on average, less than copies and calls   → these
//   routing          CPU work over 10 ms on average that moves memory              → its CPU time
//   batching         10 calls or more, with calls of the runtime in them           → those, but one
//   caching          100 calls or more of under 1 ms                               → all but one
//   parallelization  GPU at work less than half of the time                        → the rest
//   memory           over 100 MB held                                              → no time
//
// web/src/profile/suggestions.ts has the same rules, for a profile that is dropped onto the page.
namespace fathom::advise {
namespace {

constexpr double kMs = 1e6;
constexpr double kShortOperationNs = 1 * kMs;
constexpr double kLongNs = 10 * kMs;
constexpr std::uint64_t kSequentialCalls = 10;
constexpr std::uint64_t kFrequentCalls = 100;
constexpr double kMuchMemoryMb = 100;
constexpr double kLowUtilization = 0.5;

// One operation, with what is unknown as 0: no rule speaks of what is not there.
struct Known {
  const NamedFigures& operation;
  double total_ns = operation.total_ns.value_or(0);
  double mean_ns = operation.calls > 0 ? total_ns / static_cast<double>(operation.calls) : 0;
  double gpu_ns = operation.gpu_ns.value_or(0);
  double cpu_ns = operation.cpu_ns.value_or(0);
  double way_ns = operation.transfer_ns.value_or(0) + operation.overhead_ns.value_or(0);
  double memory_mb = operation.peak_memory_mb().value_or(0);
};

Suggestion bounded(const Known& known, SuggestionType type, double saves_ns) {
  Suggestion words;
  words.rule = "operations";
  words.type = type;
  words.operation = known.operation.operation;
  words.current_ns = known.total_ns;
  words.evidence_count = 0;
  if (saves_ns <= 0) return words;
  const double saves = std::min(saves_ns, known.total_ns);
  words.basis = GainBasis::bound;
  words.gain = Gain{0, static_cast<std::int64_t>(saves), static_cast<std::int64_t>(saves)};
  words.estimated_ns = known.total_ns - saves;
  if (*words.estimated_ns > 0) words.potential_speedup = known.total_ns / *words.estimated_ns;
  return words;
}

std::string calls_text(const Known& known) {
  return fmt::format("{} of {} on average",
                     base::format_plural(known.operation.calls, "call", "calls"),
                     base::format_duration(known.mean_ns));
}

void add_routing(const Known& known, std::vector<Suggestion>& found) {
  if (known.gpu_ns > 0 && known.mean_ns < kShortOperationNs && known.way_ns > known.gpu_ns) {
    Suggestion one = bounded(known, SuggestionType::routing, known.way_ns);
    one.title = fmt::format("Run {} on the CPU", one.operation);
    one.description =
        fmt::format("{}: copies and calls take {}, GPU work {}.", calls_text(known),
                    base::format_duration(known.way_ns), base::format_duration(known.gpu_ns));
    one.implementation_hint =
        "Run small operations on the host, or keep the data on the GPU between operations.";
    found.push_back(std::move(one));
  }
  const bool moves_memory = known.operation.transfer_ns.value_or(0) > 0 ||
                            known.operation.avg_memory_mb().value_or(0) > 0;
  if (known.gpu_ns <= 0 && known.mean_ns > kLongNs && moves_memory) {
    Suggestion one =
        bounded(known, SuggestionType::routing, known.cpu_ns > 0 ? known.cpu_ns : known.total_ns);
    one.title = fmt::format("Try {} on the GPU", one.operation);
    one.description =
        fmt::format("{}, all of it on the CPU, and it moves memory.", calls_text(known));
    one.implementation_hint =
        "Worth it if it does the same arithmetic on many elements and the data can stay on the "
        "GPU.";
    found.push_back(std::move(one));
  }
}

void add_calls(const Known& known, std::vector<Suggestion>& found) {
  const auto calls = static_cast<double>(known.operation.calls);
  const double but_one = calls > 0 ? (calls - 1) / calls : 0;
  const double overhead = known.operation.overhead_ns.value_or(0);
  if (known.operation.calls >= kFrequentCalls && known.mean_ns < kShortOperationNs) {
    Suggestion one = bounded(known, SuggestionType::caching, known.total_ns * but_one);
    one.title = fmt::format("Cache what {} computes", one.operation);
    one.description =
        fmt::format("{}. If it computes the same result again, cache it.", calls_text(known));
    one.implementation_hint = "Cache results by argument, or move the call out of the loop.";
    found.push_back(std::move(one));
  } else if (known.operation.calls >= kSequentialCalls && (overhead > 0 || known.gpu_ns > 0)) {
    Suggestion one = bounded(known, SuggestionType::batching, overhead * but_one);
    one.title = fmt::format("Batch the calls of {}", one.operation);
    one.description =
        fmt::format("{}, each with its own launches and runtime calls.", calls_text(known));
    one.implementation_hint = "Gather the inputs and make one call for all of them.";
    found.push_back(std::move(one));
  }
}

void add_use(const Known& known, std::vector<Suggestion>& found) {
  const double busy = known.operation.avg_gpu_utilization.value_or(
      known.total_ns > 0 ? known.gpu_ns / known.total_ns : 0);
  if (known.gpu_ns > 0 && busy < kLowUtilization) {
    Suggestion one = bounded(known, SuggestionType::parallelization, known.total_ns - known.gpu_ns);
    one.title = fmt::format("Keep the GPU busy in {}", one.operation);
    one.description =
        fmt::format("The GPU was busy for {} of the {} it took.", base::format_percent(busy * 100),
                    base::format_duration(known.total_ns));
    one.implementation_hint =
        "Launch ahead without waiting, copy on a separate stream, prepare the next input "
        "meanwhile.";
    found.push_back(std::move(one));
  }
  if (known.memory_mb > kMuchMemoryMb) {
    Suggestion one = bounded(known, SuggestionType::memory, 0);
    one.title = fmt::format("Use less memory in {}", one.operation);
    one.description = fmt::format("{:.0f} MB at the peak.", known.memory_mb);
    one.implementation_hint = "Work in place or in chunks, and free what is no longer needed.";
    found.push_back(std::move(one));
  }
}

}  // namespace

std::vector<Suggestion> rule_operations(const std::vector<NamedFigures>& operations) {
  std::vector<Suggestion> found;
  for (const NamedFigures& operation : operations) {
    const Known known{operation};
    add_routing(known, found);
    add_calls(known, found);
    add_use(known, found);
  }
  return found;
}

}  // namespace fathom::advise
