#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "advise/preparation.h"
#include "advise/rules.h"
#include "base/format.h"
#include "trace/framework_names.h"

// Trigger  Gaps of the GPU of 1 ms and more take 15 % of the run together, or one is 500 ms, or in
//          one thirtieth of the run the GPU works less than half; and calls of one operation of the
//          host of 0.5 ms and more, which is no launch, no wait, no set-up and no loading or
//          preparing of data, fill 0.5 % of the run in them. Before the first GPU work and after
//          the last, only where there are steps: what a program does there may come once.
// Edit     What the host does for that operation in those gaps shrinks to a half, and to nothing:
//          it goes on elsewhere or earlier. What launches GPU work itself, or makes views of
//          tensors, cannot: it shrinks to 75, 50 and 10 %. All that it waits for itself stays.
namespace fathom::advise {
namespace {

constexpr double kIdleTriggerPct = 15;
constexpr double kFillerPct = 0.5;
constexpr std::int64_t kHugeGapNs = 500'000'000;
constexpr std::int64_t kSlices = 30;
constexpr std::int64_t kTimesUsual = 10;

bool has_a_quiet_slice(const Facts& facts) {
  if (facts.busy.empty()) return false;
  const std::int64_t begin = facts.busy.front().begin;
  const std::int64_t length = (facts.busy.back().end - begin) / kSlices;
  for (std::int64_t i = 0; length > 0 && i < kSlices; ++i) {
    const base::Interval slice{begin + i * length, begin + (i + 1) * length};
    if (base::length_within(facts.busy, slice) * 2 < length) return true;
  }
  return false;
}

struct Filler {
  std::int64_t total_ns = 0;
  std::vector<std::size_t> pieces;
  std::vector<SpanId> spans;
};

// Calls of one name in the whole trace.
struct CallsOfName {
  SpanId first = kNoSpan;
  std::vector<std::int64_t> times_ns;  // of those after the first that launch no kernel anew
  std::optional<std::int64_t> usual_ns;
};

std::map<trace::NameId, CallsOfName> calls_by_name(const Facts& facts) {
  std::map<trace::NameId, CallsOfName> found;
  std::vector<CallsOfName*> of_name(facts.trace.names.size(), nullptr);
  for (const GapPiece& one : facts.gap_pieces) {
    const trace::NameId name = facts.spans.name[one.operation];
    of_name[name] = &found[name];
  }
  const auto add = [&](auto what) {
    for (SpanId id = 0; !found.empty() && id < facts.spans.size(); ++id) {
      CallsOfName* const calls = of_name[facts.spans.name[id]];
      if (calls != nullptr) what(*calls, id);
    }
  };
  add([&](CallsOfName& calls, SpanId id) {
    const bool is_first =
        calls.first == kNoSpan || facts.spans.start_ns[id] < facts.spans.start_ns[calls.first];
    if (is_first) calls.first = id;
  });
  add([&](CallsOfName& calls, SpanId id) {
    if (id == calls.first || facts.is_first_launch(id)) return;
    calls.times_ns.push_back(facts.spans.duration_ns[id]);
  });
  for (auto& [name, calls] : found) {
    std::vector<std::int64_t>& times = calls.times_ns;
    if (times.empty()) continue;
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    calls.usual_ns = *middle;
  }
  return found;
}

// Of the operations in long gaps: it has a call that sets something up; or it is the first of its
// name, or launches a kernel for the first time, and takes over 10 times as long as others.
std::vector<bool> operations_that_set_up(const Facts& facts) {
  std::vector<bool> found(facts.spans.size());
  for (const SpanId call : facts.set_up) {
    for (SpanId at = call; at != kNoSpan && !found[at]; at = facts.spans.parent[at]) {
      found[at] = true;
    }
  }
  const std::map<trace::NameId, CallsOfName> by_name = calls_by_name(facts);
  for (const GapPiece& one : facts.gap_pieces) {
    const CallsOfName& calls = by_name.at(facts.spans.name[one.operation]);
    const bool may_set_up = one.operation == calls.first || facts.is_first_launch(one.operation);
    if (!may_set_up || !calls.usual_ns) continue;
    if (facts.spans.duration_ns[one.operation] >= kTimesUsual * *calls.usual_ns) {
      found[one.operation] = true;
    }
  }
  return found;
}

// By piece of the host.
std::vector<bool> pieces_that_prepare(const Facts& facts) {
  std::vector<bool> found(facts.on.host.span.size());
  for (const PreparationPiece& one : preparation_pieces(facts)) found[one.piece] = true;
  return found;
}

std::map<trace::NameId, Filler> fillers_of(const Facts& facts) {
  std::map<trace::NameId, Filler> found;
  const std::vector<bool> is_set_up = operations_that_set_up(facts);
  const std::vector<bool> prepares = pieces_that_prepare(facts);
  for (const GapPiece& one : facts.gap_pieces) {
    if (is_set_up[one.operation] || prepares[one.piece]) continue;
    if (facts.steps == 0 && facts.is_before_or_after_all_work(one.gap)) continue;
    Filler& filler = found[facts.spans.name[one.operation]];
    filler.total_ns += one.time_ns;
    if (filler.pieces.empty() || filler.pieces.back() != one.piece) {
      filler.pieces.push_back(one.piece);
    }
    if (filler.spans.empty() || filler.spans.back() != one.operation) {
      filler.spans.push_back(one.operation);
    }
  }
  return found;
}

enum class Calls { usual, launching, views, slow };

// Whether it launches GPU work itself, and so cannot go elsewhere.
bool launches_work(const Facts& facts, const Filler& filler) {
  std::vector<SpanId> sorted = filler.spans;
  std::sort(sorted.begin(), sorted.end());
  return std::any_of(facts.on.gpu.rows.begin(), facts.on.gpu.rows.end(), [&](const auto& row) {
    for (SpanId at = row.launch; at != trace::kNoSpan; at = facts.spans.parent[at]) {
      if (std::binary_search(sorted.begin(), sorted.end(), at)) return true;
    }
    return false;
  });
}

// Operations that make a tensor of another without computing anything.
bool makes_a_view(std::string_view name) {
  constexpr std::array<std::string_view, 22> kViews = {
      "aten::alias",           "aten::as_strided",   "aten::chunk",
      "aten::detach",          "aten::expand",       "aten::narrow",
      "aten::permute",         "aten::select",       "aten::slice",
      "aten::split",           "aten::squeeze",      "aten::t",
      "aten::unbind",          "aten::view",         "aten::unsqueeze",
      "aten::transpose",       "aten::view_as",      "detach",
      "aten::reshape",         "aten::_unsafe_view", "aten::_reshape_alias",
      "aten::split_with_sizes"};
  return std::find(kViews.begin(), kViews.end(), name) != kViews.end();
}

// The views that a call makes; 0 where it does anything else. What is in a span follows it.
std::size_t views_made(const Facts& facts, SpanId call) {
  std::size_t count = 0;
  for (SpanId id = call + 1; id < facts.spans.size(); ++id) {
    const bool is_inside = facts.spans.track[id] == facts.spans.track[call] &&
                           facts.spans.start_ns[id] < facts.spans.end_ns(call);
    if (!is_inside) break;
    if (!makes_a_view(facts.trace.name(id))) return 0;
    ++count;
  }
  return count;
}

bool only_makes_views(const Facts& facts, const Filler& filler) {
  return std::all_of(filler.spans.begin(), filler.spans.end(),
                     [&](SpanId call) { return views_made(facts, call) > 0; });
}

// What calls do that are like most of their name.
Calls usual_kind(const Facts& facts, const Filler& filler) {
  if (launches_work(facts, filler)) return Calls::launching;
  return only_makes_views(facts, filler) ? Calls::views : Calls::usual;
}

// Whether the calls that filled gaps are like most of their name.
Calls kind_of_calls(const Facts& facts, trace::NameId name, const Filler& filler) {
  std::vector<std::int64_t> times;
  for (SpanId id = 0; id < facts.spans.size(); ++id) {
    if (facts.spans.name[id] == name) times.push_back(facts.spans.duration_ns[id]);
  }
  const Calls usual = usual_kind(facts, filler);
  if (times.size() < 2 * filler.spans.size()) return usual;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  const auto count = static_cast<std::int64_t>(filler.spans.size());
  return filler.total_ns <= kTimesUsual * *middle * count ? usual : Calls::slow;
}

std::string short_name(std::string_view operation) {
  return base::fit(trace::without_engine(operation), 40);
}

// Calls that are not like the others need other words.
void say_what_is_unusual(Candidate& found, const Platform& platform, Calls calls) {
  if (calls == Calls::usual) return;
  const std::string name = short_name(found.words.operation);
  if (calls == Calls::launching) {
    found.words.title = fmt::format("Find out why {} takes so long on the host", name);
    found.supposes = "if it takes half as long";
    if (platform.server != Server::none) {
      found.words.implementation_hint =
          "It launches GPU work, but the host takes long to get there. Graphs that are captured "
          "for the sizes that come up do without the host.";
      return;
    }
    found.words.implementation_hint =
        hint_for(platform, {.words = "It launches GPU work, but the host takes long to get there: "
                                     "choosing algorithms, allocating memory, many "
                                     "small pieces. Warm up, keep shapes constant, do more per "
                                     "call",
                            .pytorch = ", use a fused or compiled version."});
    return;
  }
  if (calls == Calls::views) {
    found.words.title = fmt::format("Reuse the views that {} makes", name);
    found.words.description += " It computes nothing there: it makes views of tensors one by one.";
    found.supposes = "if half of that time goes away";
    found.words.implementation_hint =
        "Views stay valid as long as the memory behind them: make them once, before the loop, or "
        "use fewer, larger tensors.";
    if (platform.trains) {
      found.words.implementation_hint +=
          " For gradients that are reduced together, use:\n"
          "DistributedDataParallel(model, gradient_as_bucket_view=True)";
    }
    return;
  }
  found.words.description += " Most of its other calls are over 10 times shorter.";
  found.words.title = fmt::format("Find out why some calls of {} are slow", name);
  found.supposes = "if these take no time";
  found.words.implementation_hint =
      "Look at them in the timeline: new allocations, locks, garbage collection, "
      "other programs on the same cores.";
}

// The spans that are shown are much longer than what is counted of them.
bool is_mostly_other(const Facts& facts, const Filler& filler) {
  std::int64_t whole = 0;
  for (const SpanId call : filler.spans) whole += facts.spans.duration_ns[call];
  return whole > 2 * filler.total_ns;
}

Candidate candidate_of(const Facts& facts, trace::NameId name, const Filler& filler) {
  const auto total = static_cast<double>(filler.total_ns);
  Candidate found = found_by("idle", SuggestionType::parallelization, filler.total_ns);
  found.words.operation = facts.trace.names.view(name);
  found.words.title =
      fmt::format("Stop {} from holding up the GPU", short_name(found.words.operation));
  found.words.description =
      fmt::format("The host spent {} ({} of the run) in {} during GPU idle gaps of 1 ms or more.",
                  base::format_duration(total), base::format_percent(facts.share(filler.total_ns)),
                  found.words.operation);
  if (is_mostly_other(facts, filler)) {
    found.words.description += " Time in runtime calls or outside these gaps is not counted.";
  }
  found.supposes = "if it runs alongside the GPU's work";
  found.words.implementation_hint =
      "Do it in another thread or process, before the step that needs it, on the GPU, or less "
      "often (logging, checkpoints, metrics).";
  if (filler.spans.size() == 1) {
    found.words.implementation_hint += " If it sets something up, do it before the first step.";
  }
  const Calls calls = kind_of_calls(facts, name, filler);
  say_what_is_unusual(found, facts.platform, calls);
  show(found.words, facts.trace, filler.spans);
  const bool stays = calls == Calls::launching || calls == Calls::views;
  found.edit = [&facts, stays, pieces = filler.pieces](Edits& edits, Effort effort) {
    const double left = stays ? pick(effort, 0.75, 0.5, 0.1) : pick(effort, 0.5, 0.0, 0.0);
    for (const std::size_t piece : pieces) scale_piece(edits, facts.plan, piece, left);
  };
  return found;
}

}  // namespace

Candidates rule_idle(const Facts& facts) {
  if (facts.is_a_start()) return {};
  std::int64_t total = 0;
  std::int64_t longest = 0;
  for (const base::Interval& gap : facts.long_gaps) {
    total += gap.length();
    longest = std::max(longest, gap.length());
  }
  const bool is_idle =
      facts.share(total) >= kIdleTriggerPct || longest >= kHugeGapNs || has_a_quiet_slice(facts);
  if (facts.long_gaps.empty() || !is_idle) return {};
  const std::map<trace::NameId, Filler> fillers = fillers_of(facts);
  Candidates found;
  for (const auto& [name, filler] : fillers) {
    if (facts.share(filler.total_ns) < kFillerPct) continue;
    found.push_back(candidate_of(facts, name, filler));
  }
  keep_largest(found);
  return found;
}

}  // namespace fathom::advise
