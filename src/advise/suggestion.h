#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace fathom::advise {

enum class SuggestionType : std::uint8_t {
  routing,
  batching,
  memory,
  caching,
  algorithm,
  parallelization
};

inline constexpr std::array<std::string_view, 6> kSuggestionTypeNames = {
    "routing", "batching", "memory", "caching", "algorithm", "parallelization"};

constexpr std::string_view name_of(SuggestionType type) {
  return kSuggestionTypeNames[static_cast<std::size_t>(type)];
}

// From the gain: 20 % of the run and more is critical, 10 % high, 3 % medium. A suggestion without
// a gain is medium where what it concerns took 20 % of the run or more, else low.
enum class Priority : std::uint8_t { critical, high, medium, low };

inline constexpr std::array<std::string_view, 4> kPriorityNames = {"critical", "high", "medium",
                                                                   "low"};

constexpr std::string_view name_of(Priority priority) {
  return kPriorityNames[static_cast<std::size_t>(priority)];
}

// Where a gain comes from.
enum class GainBasis : std::uint8_t {
  none,    // there is no number, and the suggestions say why
  replay,  // the dependency graph of the trace was replayed with the change in it
  bound,   // the operation cannot save more than this; nothing says how much of it shows at the end
};

inline constexpr std::array<std::string_view, 3> kGainBasisNames = {"none", "replay", "bound"};

constexpr std::string_view name_of(GainBasis basis) {
  return kGainBasisNames[static_cast<std::size_t>(basis)];
}

// What saves less of the run is left out unless all is asked for: the replay is trusted if it is
// within 3 % of the run, so what is less than that cannot be told from its error.
inline constexpr double kWorthPct = 3;

// Time saved. Low and high are the same change done half-heartedly and as well as possible.
struct Gain {
  std::int64_t low_ns = 0;
  std::int64_t mid_ns = 0;
  std::int64_t high_ns = 0;
};

struct Suggestion {
  std::string rule;   // that found it, as its file is called: "input", "overlap", …
  std::string title;  // what to do, in a few words
  std::string operation;
  SuggestionType type = SuggestionType::parallelization;
  Priority priority = Priority::low;
  std::string description;           // what was seen
  std::string expected_improvement;  // what the gain supposes, and how large it is
  std::string implementation_hint;   // how, in words
  std::vector<std::string> code;     // how, in lines that can be pasted; often none

  // The run as it is and as it would be; of a bound, the operation.
  double current_ns = 0;
  std::optional<double> estimated_ns;
  std::optional<double> potential_speedup;
  GainBasis basis = GainBasis::none;
  std::optional<Gain> gain;
  bool is_after_others = false;  // the gain shows only once those before it in the list are made
  double gain_pct = 0;           // mid, of the run; 0 without a gain
  bool is_rough = false;         // the replay is off by 3 to 10 % (Suggestions::replay_error_pct)

  std::vector<trace::SpanId> evidence;  // spans of the trace, those that show most first
  std::uint64_t evidence_count = 0;     // of all of them, also those not listed
};

struct Suggestions {
  double run_ns = 0;                  // what percentages are of
  double measured_ns = 0;             // from the first to the last of what takes part
  std::optional<double> replayed_ns;  // the same without any change; absent where nothing depends
  // How far the replay without any change is from the run, in percent of it: in its length or, on
  // average, in when the GPU work began, whichever is more.
  std::optional<double> replay_error_pct;
  bool has_gains = false;
  bool is_rough = false;         // there are gains, and the replay is off by 3 to 10 %
  std::string why_no_gains;      // a sentence; empty where there are gains
  std::vector<Suggestion> list;  // most gain first, then guesses, those without a gain last
  std::uint64_t left_out = 0;    // of less than kWorthPct

  // What all of them bring together; each is counted once, so they add up.
  double gain_pct() const {
    double together = 0;
    for (const Suggestion& one : list) together += one.gain_pct;
    return together;
  }
};

// Words and code as one text, a line break before each line of code.
inline std::string hint_with_code(const Suggestion& one) {
  std::string text = one.implementation_hint;
  for (const std::string& line : one.code) text += '\n' + line;
  return text;
}

}  // namespace fathom::advise
