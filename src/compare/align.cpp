#include "compare/align.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <thread>
#include <unordered_map>

#include "base/parallel.h"

namespace fathom::compare {
namespace {

using trace::SpanKind;

// The operations of one name and kind, a list for each run.
struct Found {
  std::string name;
  SpanKind kind = SpanKind::other;
  bool is_by_structure = false;
  std::vector<std::vector<const RunOperation*>> base;
  std::vector<std::vector<const RunOperation*>> current;
};

using CallsOfSide = std::vector<std::vector<const RunOperation*>> Found::*;

bool is_there(const std::vector<std::vector<const RunOperation*>>& side) {
  return std::any_of(side.begin(), side.end(), [](const auto& run) { return !run.empty(); });
}

// In the order in which operations were first seen.
class Table {
 public:
  Table(std::size_t base_runs, std::size_t current_runs)
      : base_runs_(base_runs), current_runs_(current_runs) {}

  Found& of(const std::string& name, SpanKind kind) {
    const auto [at, is_new] = index_.try_emplace(operation_key(name, kind), all.size());
    if (is_new) {
      all.push_back({name, kind, false, {}, {}});
      all.back().base.resize(base_runs_);
      all.back().current.resize(current_runs_);
    }
    return all[at->second];
  }

  std::vector<Found> all;

 private:
  std::size_t base_runs_;
  std::size_t current_runs_;
  std::unordered_map<std::string, std::size_t> index_;
};

void add_side(Table& table, std::span<const Run> runs, CallsOfSide side) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const RunOperation& operation : runs[i].operations) {
      if (operation.sites.empty() && !operation.figures) continue;
      (table.of(operation.name, operation.kind).*side)[i].push_back(&operation);
    }
  }
}

// The side that alone has it; none where both have.
CallsOfSide lonely_side(const Found& found) {
  if (is_there(found.base) == is_there(found.current)) return nullptr;
  return is_there(found.base) ? &Found::base : &Found::current;
}

// What launched most of the time of GPU work that one side alone has; empty for all else.
std::string launcher_of(const Found& found) {
  const CallsOfSide side = lonely_side(found);
  if (side == nullptr || !trace::is_gpu_work(found.kind)) return {};
  std::map<std::string_view, std::int64_t> times;
  for (const auto& run : found.*side) {
    for (const RunOperation* operation : run) times[operation->launched_by] += operation->self_ns;
  }
  const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
  return std::string(std::ranges::max_element(times, by_time)->first);
}

// Replaces GPU work that one side alone has by that of its launcher, where both sides have some.
void match_by_structure(std::vector<Found>& all, std::size_t base_runs, std::size_t current_runs) {
  Table by_launcher(base_runs, current_runs);
  for (const Found& lonely : all) {
    const std::string launcher = launcher_of(lonely);
    if (launcher.empty()) continue;
    Found& found = by_launcher.of(launcher, lonely.kind);
    found.is_by_structure = true;
    const CallsOfSide side = lonely_side(lonely);
    for (std::size_t i = 0; i < (lonely.*side).size(); ++i) {
      std::ranges::copy((lonely.*side)[i], std::back_inserter((found.*side)[i]));
    }
  }
  std::erase_if(all, [&](const Found& lonely) {
    const std::string launcher = launcher_of(lonely);
    if (launcher.empty()) return false;
    const Found& both = by_launcher.of(launcher, lonely.kind);
    return is_there(both.base) && is_there(both.current);
  });
  for (Found& found : by_launcher.all) {
    if (is_there(found.base) && is_there(found.current)) all.push_back(std::move(found));
  }
}

// Of all runs.
double self_ns(const std::vector<std::vector<const RunOperation*>>& side) {
  double sum = 0;
  for (const auto& run : side) {
    for (const RunOperation* operation : run) sum += static_cast<double>(operation->self_ns);
  }
  return sum;
}

std::optional<double> memory_bytes(const std::vector<std::vector<const RunOperation*>>& side) {
  std::optional<double> most;
  for (const auto& run : side) {
    for (const RunOperation* operation : run) {
      if (!operation->peak_memory_bytes) continue;
      most = std::max(most.value_or(0), *operation->peak_memory_bytes);
    }
  }
  return most;
}

// The one operation of each run, for an operation that may be taken apart: not what was matched by
// what launched it, nor what only has figures.
std::optional<SideOperations> single(const std::vector<std::vector<const RunOperation*>>& side) {
  SideOperations runs;
  for (const auto& run : side) {
    if (run.size() > 1 || (run.size() == 1 && run.front()->figures)) return std::nullopt;
    runs.push_back(run.empty() ? nullptr : run.front());
  }
  return runs;
}

SideCalls together(const std::vector<std::vector<const RunOperation*>>& side) {
  SideCalls all(side.size());
  for (std::size_t run = 0; run < side.size(); ++run) {
    for (const RunOperation* operation : side[run]) {
      for (const CallSite& site : operation->sites) add_site(all[run], site);
      if (!operation->figures) continue;
      all[run].figures = operation->figures;
      all[run].self_ns += operation->self_ns;
    }
  }
  return all;
}

std::vector<OperationPart> parts_of(const Found& found, double base_whole, double current_whole) {
  const auto base = single(found.base);
  const auto current = single(found.current);
  if (!found.is_by_structure && base && current) {
    return take_apart(*base, *current, base_whole, current_whole);
  }
  return {{{}, together(found.base), together(found.current)}};
}

std::vector<Sample> samples(const SideCalls& side) {
  std::vector<Sample> all;
  for (const RunCalls& run : side) {
    if (run.figures) {
      all.push_back(*run.figures);
    } else if (!run.ns.empty()) {
      all.push_back(sample_of(run.ns, run.sites));
    }
  }
  return all;
}

// As the sides write it, where they agree or there is only one; else as both would.
std::string name_of(const Found& found) {
  if (found.is_by_structure) return found.name;
  std::set<std::string_view> written;
  for (const auto* side : {&found.base, &found.current}) {
    for (const auto& run : *side) {
      for (const RunOperation* operation : run) written.insert(operation->written);
    }
  }
  const bool is_known = written.size() == 1 && !written.begin()->empty();
  return is_known && found.name != kStepOperation ? std::string(*written.begin()) : found.name;
}

AlignedOperation aligned(const Found& found, const OperationPart& part, bool is_whole) {
  AlignedOperation operation;
  operation.name = name_of(found);
  operation.kind = found.kind;
  operation.which = part.which;
  operation.is_by_structure = found.is_by_structure;
  operation.runs = {samples(part.base), samples(part.current)};
  operation.base_self_ns = self_ns(part.base);
  operation.current_self_ns = self_ns(part.current);
  if (is_whole) {
    operation.base_memory_bytes = memory_bytes(found.base);
    operation.current_memory_bytes = memory_bytes(found.current);
  }
  return operation;
}

}  // namespace

Alignment align(std::span<const Run> base, std::span<const Run> current, bool all) {
  Table table(base.size(), current.size());
  add_side(table, base, &Found::base);
  add_side(table, current, &Found::current);
  match_by_structure(table.all, base.size(), current.size());

  double base_whole = 0;
  double current_whole = 0;
  double base_told = 0;  // in operations that tell programs apart
  double current_told = 0;
  double base_matched = 0;
  double current_matched = 0;
  for (const Found& found : table.all) {
    const double before = self_ns(found.base);
    const double now = self_ns(found.current);
    base_whole += before;
    current_whole += now;
    // Any two programs have steps.
    if (found.name == kStepOperation) continue;
    base_told += before;
    current_told += now;
    if (!is_there(found.base) || !is_there(found.current)) continue;
    base_matched += before;
    current_matched += now;
  }
  Alignment alignment;
  if (base_told > 0 && current_told > 0) {
    alignment.matched_pct =
        100 * std::min(base_matched / base_told, current_matched / current_told);
  }
  const auto is_small = [&](double before, double now) {
    return !all && before < kLeastShare * base_whole && now < kLeastShare * current_whole;
  };
  std::vector<const Found*> judged;
  for (const Found& found : table.all) {
    if (!is_named_by_user(found.kind) && is_small(self_ns(found.base), self_ns(found.current))) {
      ++alignment.left_out;
    } else {
      judged.push_back(&found);
    }
  }
  std::vector<std::vector<AlignedOperation>> found_parts(judged.size());
  std::vector<std::size_t> small_parts(judged.size());
  base::in_parallel(std::thread::hardware_concurrency(), judged.size(), [&](std::size_t i) {
    const std::vector<OperationPart> parts = parts_of(*judged[i], base_whole, current_whole);
    for (const OperationPart& part : parts) {
      if (parts.size() > 1 && is_small(self_ns(part.base), self_ns(part.current))) {
        ++small_parts[i];
        continue;
      }
      found_parts[i].push_back(aligned(*judged[i], part, parts.size() == 1));
    }
  });
  for (auto& parts : found_parts)
    std::ranges::move(parts, std::back_inserter(alignment.operations));
  for (const std::size_t count : small_parts) alignment.left_out += count;
  return alignment;
}

}  // namespace fathom::compare
