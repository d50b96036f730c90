#include "analyze/compile/compile_findings.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyze/compile/compile_advice.h"

namespace fathom::analyze {
namespace {

// Groups in the order in which they are first met, found again by their key.
template <typename Group>
class Groups {
 public:
  Group& of(const std::string& key) {
    const auto [at, is_new] = places_.try_emplace(key, list.size());
    return is_new ? list.emplace_back() : list[at->second];
  }
  std::vector<Group> list;

 private:
  std::map<std::string, std::size_t> places_;
};

// No name or reason has a line break and a tab.
std::string key_of(const std::string& first, const std::string& second) {
  return first + "\n\t" + second;
}

std::string place_of(const Compilation& one) {
  return one.file.empty() ? "" : short_place(one.file, one.first_line);
}

void add(std::optional<std::int64_t>& sum, std::optional<std::int64_t> more) {
  if (more) sum = sum.value_or(0) + *more;
}

// "0/1: tensor 'x' size mismatch …": the version whose guard failed is not the reason.
std::string without_version(const std::string& reason) {
  const std::size_t colon = reason.find(": ");
  const bool has_version = colon != std::string::npos && reason.find('/') < colon &&
                           reason.find_first_not_of("!/0123456789") == colon;
  return has_version ? reason.substr(colon + 2) : reason;
}

class FindingsMaker {
 public:
  void take(const CompileLog& log) {
    take_times(log);
    for (const Compilation& one : log.compilations) {
      ++found_.compilations;
      if (!one.is_resumed()) functions_.emplace(one.function, place_of(one));
      take_breaks(one);
      if (one.is_recompile()) take_recompile(one);
      if (one.has_failed()) take_failure(one);
      take_skips(one);
      take_rerecordings(one);
      take_caches(one);
      take_fusion(one);
    }
  }

  CompileFindings finish() {
    found_.functions = functions_.size();
    found_.break_groups = std::move(breaks_.list);
    found_.recompile_groups = std::move(recompiles_.list);
    found_.failure_groups = std::move(failures_.list);
    found_.cudagraph_skips = std::move(skips_.list);
    found_.cudagraph_rerecordings = std::move(rerecordings_.list);
    std::ranges::stable_sort(found_.break_groups, std::ranges::greater{}, &BreakGroup::count);
    std::ranges::stable_sort(found_.recompile_groups, std::ranges::greater{},
                             &RecompileGroup::total_ns);
    std::ranges::stable_sort(found_.cudagraph_skips, std::ranges::greater{}, &CudagraphSkip::count);
    std::ranges::stable_sort(found_.cudagraph_rerecordings, std::ranges::greater{},
                             &CudagraphRerecording::times);
    return std::move(found_);
  }

 private:
  // Ranks compile at the same time: the job waits for the one that takes longest.
  void take_times(const CompileLog& log) {
    std::optional<std::int64_t> total;
    std::array<std::optional<std::int64_t>, kCompilePhases> phases;
    for (const Compilation& one : log.compilations) {
      add(total, one.total_ns);
      for (std::size_t i = 0; i < kCompilePhases; ++i) add(phases[i], one.phases[i]);
    }
    if (!total || (found_.total_ns && *found_.total_ns >= *total)) return;
    found_.total_ns = total;
    found_.phases = phases;
  }

  void take_breaks(const Compilation& one) {
    for (const GraphBreak& each : one.breaks) {
      ++found_.breaks;
      BreakGroup& group = breaks_.of(key_of(each.reason, each.where));
      if (group.count++ > 0) continue;
      group.example = each;
      group.function = original_name(one.function);
      group.advice = each.hint.empty() ? break_advice(each.reason) : std::string_view(each.hint);
    }
  }

  void take_recompile(const Compilation& one) {
    ++found_.recompiles;
    const std::string key = key_of(one.function, place_of(one));
    RecompileGroup& group = recompiles_.of(key);
    group.function = one.function;
    group.place = place_of(one);
    ++group.times;
    group.total_ns += one.total_ns.value_or(0);
    if (one.recompile_reasons.empty()) return;
    // The newest version is tried first; that its guard failed is what made this one.
    const std::string reason = without_version(one.recompile_reasons.front());
    if (!reasons_.insert(key_of(key, reason)).second) return;
    group.reasons.push_back(reason);
    if (group.advice.empty()) group.advice = recompile_advice(reason);
  }

  void take_failure(const Compilation& one) {
    ++found_.failures;
    const std::string place = one.fail_where.empty() ? place_of(one) : one.fail_where;
    CompileFailure& group = failures_.of(key_of(key_of(one.fail_type, one.fail_reason), place));
    group = {.function = one.function,
             .place = place,
             .type = one.fail_type,
             .reason = one.fail_reason,
             .count = group.count + 1,
             .advice = std::string(failure_advice(one.fail_type + ": " + one.fail_reason))};
  }

  void take_skips(const Compilation& one) {
    for (const std::string& reason : one.cudagraph_skips) {
      CudagraphSkip& skip = skips_.of(reason);
      skip = {.reason = reason,
              .count = skip.count + 1,
              .advice = std::string(cudagraph_advice(reason))};
    }
  }

  void take_rerecordings(const Compilation& one) {
    const std::uint32_t times = one.cudagraph_rerecordings();
    if (times == 0) return;
    CudagraphRerecording& group = rerecordings_.of(key_of(one.function, place_of(one)));
    group.function = one.function;
    group.place = place_of(one);
    group.times += times;
    group.advice = rerecording_advice();
  }

  void take_caches(const Compilation& one) {
    for (const CacheEvent& event : one.caches) {
      CacheCounts& counts = found_.caches[event.cache];
      ++counts.outcomes[static_cast<std::size_t>(event.outcome)];
      if (event.outcome == CacheOutcome::hit) add(counts.saved_ns, event.saved_ns);
    }
  }

  void take_fusion(const Compilation& one) {
    if (!one.fusion) return;
    if (!found_.fusion) found_.fusion.emplace();
    found_.fusion->ops_before += one.fusion->ops_before;
    found_.fusion->ops_after += one.fusion->ops_after;
  }

  CompileFindings found_;
  std::set<std::pair<std::string, std::string>> functions_;
  Groups<BreakGroup> breaks_;
  Groups<RecompileGroup> recompiles_;
  Groups<CompileFailure> failures_;
  Groups<CudagraphSkip> skips_;
  Groups<CudagraphRerecording> rerecordings_;
  std::set<std::string> reasons_;  // of recompilations, each with its function
};

// How often each rank did what ranks should do alike.
std::map<std::string, std::uint64_t> counts_of(const CompileLog& log) {
  std::map<std::string, std::uint64_t> counts;
  counts["compilations"] = log.compilations.size();
  for (const Compilation& one : log.compilations) {
    counts["graph breaks"] += one.breaks.size();
    counts["recompilations"] += one.is_recompile() ? 1U : 0U;
    for (const CacheEvent& event : one.caches) {
      counts["misses in " + event.cache] += event.outcome == CacheOutcome::miss ? 1U : 0U;
    }
  }
  return counts;
}

// A log without a rank is of one process, and there is nothing to compare it with.
std::vector<RankDifference> differences(const std::vector<CompileLog>& logs) {
  std::map<std::int64_t, std::map<std::string, std::uint64_t>> ranks;
  std::set<std::string> all;
  for (const CompileLog& log : logs) {
    if (!log.rank) continue;
    for (const auto& [what, count] : counts_of(log)) {
      ranks[*log.rank][what] += count;
      all.insert(what);
    }
  }
  std::vector<RankDifference> found;
  if (ranks.size() < 2) return found;
  for (const std::string& what : all) {
    std::vector<std::uint64_t> counts;
    for (auto& [rank, of_rank] : ranks) counts.push_back(of_rank[what]);
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
    std::ranges::nth_element(counts, middle);
    for (auto& [rank, of_rank] : ranks) {
      if (of_rank[what] != *middle) found.push_back({rank, what, of_rank[what], *middle});
    }
  }
  return found;
}

}  // namespace

CompileFindings compile_findings(std::vector<CompileLog> logs) {
  std::ranges::stable_sort(logs, {}, [](const CompileLog& log) { return log.rank.value_or(-1); });
  FindingsMaker maker;
  for (const CompileLog& log : logs) maker.take(log);
  CompileFindings found = maker.finish();
  found.differences = differences(logs);
  found.tree = compile_tree(logs);
  found.logs = std::move(logs);
  return found;
}

}  // namespace fathom::analyze
