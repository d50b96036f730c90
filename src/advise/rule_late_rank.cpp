#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/rules.h"
#include "base/format.h"
#include "base/median.h"

// Trigger  Exchanges of one kind and size differ by a factor of two, or smaller ones take longer
//          than larger ones: data does not explain it, waiting for another rank does. The first
//          one of the trace is left out, for it may wait for others to begin at all. What exceeds
//          the shortest exchange of as many bytes or more takes 3 % of the run.
// Edit     Half, all and all of that goes.
namespace fathom::advise {
namespace {

constexpr double kLateTriggerPct = 3;
constexpr std::int64_t kVaries = 2;
constexpr std::size_t kFewest = 3;
// Below this both latency and waiting are small, and differ by much for no reason.
constexpr std::int64_t kShortExchangeNs = 100'000;

struct Waited {
  std::uint32_t row = 0;
  std::int64_t ns = 0;
};

using SameKind = std::map<std::int64_t, std::vector<const CollectiveWork*>>;  // by bytes

std::map<Exchange, SameKind> by_kind_and_size(const Facts& facts) {
  std::map<Exchange, SameKind> found;
  for (std::size_t i = 1; i < facts.collectives.size(); ++i) {
    const CollectiveWork& one = facts.collectives[i];
    if (one.bytes && one.exchange != Exchange::other)
      found[one.exchange][*one.bytes].push_back(&one);
  }
  return found;
}

std::int64_t exchange_ns(const Facts& facts, const CollectiveWork& one) {
  return facts.on.gpu.rows[one.row].duration_ns();
}

std::string with_article(Exchange exchange) {
  const std::string_view name = name_of(exchange);
  return fmt::format("{} {}", name.starts_with('a') ? "An" : "A", name);
}

struct Spread {
  std::int64_t shortest = INT64_MAX;
  std::int64_t longest = 0;
  std::int64_t median = 0;
};

Spread spread_of(const Facts& facts, const std::vector<const CollectiveWork*>& same) {
  Spread found;
  std::vector<std::int64_t> times;
  for (const CollectiveWork* one : same) {
    times.push_back(exchange_ns(facts, *one));
    found.shortest = std::min(found.shortest, times.back());
    found.longest = std::max(found.longest, times.back());
  }
  found.median = base::median(std::move(times));
  return found;
}

struct LateRank {
  std::vector<Waited> rows;
  std::int64_t waited_ns = 0;
  // What shows it best.
  std::int64_t gap_ns = 0;
  std::string evidence;
};

// The one example that is told: the largest difference.
void remember(LateRank& found, std::int64_t gap, std::string text) {
  if (gap <= found.gap_ns) return;
  found.gap_ns = gap;
  found.evidence = std::move(text);
}

void add_kind(const Facts& facts, Exchange exchange, const SameKind& sizes, LateRank& found) {
  // From the largest down: the shortest time of as many bytes or more is what the exchange needs.
  std::int64_t needs = INT64_MAX;
  std::int64_t larger_bytes = 0;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    const Spread spread = spread_of(facts, size->second);
    const bool varies = size->second.size() > 1 && spread.longest >= kVaries * spread.shortest;
    const bool is_slower_than_larger = spread.median > needs;
    if (spread.longest >= kShortExchangeNs && (varies || is_slower_than_larger)) {
      const std::int64_t enough = std::min(needs, spread.shortest);
      for (const CollectiveWork* one : size->second) {
        const std::int64_t waited = exchange_ns(facts, *one) - enough;
        if (waited <= 0) continue;
        found.rows.push_back({one->row, waited});
        found.waited_ns += waited;
      }
      const std::string what = fmt::format("{} of {}", with_article(exchange),
                                           base::format_bytes(static_cast<double>(size->first)));
      if (varies) {
        remember(
            found, spread.longest - spread.shortest,
            fmt::format("{} took between {} and {}", what, base::format_duration(spread.shortest),
                        base::format_duration(spread.longest)));
      } else {
        remember(
            found, spread.median - needs,
            fmt::format("{} took {}, one of {} only {}", what, base::format_duration(spread.median),
                        base::format_bytes(static_cast<double>(larger_bytes)),
                        base::format_duration(needs)));
      }
    }
    if (spread.shortest < needs) {
      needs = spread.shortest;
      larger_bytes = size->first;
    }
  }
}

// Empty where it is too little to speak of.
LateRank late_rank(const Facts& facts) {
  const auto kinds = by_kind_and_size(facts);
  LateRank found;
  std::size_t sized = 0;
  for (const auto& [exchange, sizes] : kinds) {
    for (const auto& [bytes, same] : sizes) sized += same.size();
    add_kind(facts, exchange, sizes, found);
  }
  if (sized < kFewest || facts.share(found.waited_ns) < kLateTriggerPct) return {};
  return found;
}

}  // namespace

void add_waiting(const Facts& facts, std::vector<std::int64_t>& ns) {
  for (const Waited& one : late_rank(facts).rows) ns[one.row] = std::max(ns[one.row], one.ns);
}

Candidates rule_late_rank(const Facts& facts) {
  LateRank seen = late_rank(facts);
  if (seen.rows.empty()) return {};
  Candidate found = found_by("late_rank", SuggestionType::parallelization, seen.waited_ns);
  std::stable_sort(seen.rows.begin(), seen.rows.end(),
                   [](const Waited& a, const Waited& b) { return a.ns > b.ns; });
  std::vector<SpanId> spans;
  for (const Waited& one : seen.rows) spans.push_back(facts.on.gpu.rows[one.row].span);
  found.words.operation = facts.trace.name(spans.front());
  show_in_order(found.words, std::move(spans));
  found.words.title = "Find the rank that the others wait for";
  found.words.description = fmt::format(
      "{}: the data does not explain the difference, waiting for a rank that came late does. "
      "Such waiting adds up to {} ({} of the run).",
      seen.evidence, base::format_duration(seen.waited_ns),
      base::format_percent(facts.share(seen.waited_ns)));
  found.supposes = "if all ranks arrive together";
  found.words.implementation_hint =
      "The rank that is late is the one whose own exchanges are the shortest. What it does before "
      "them is what to fix: uneven data, slower input, a slower GPU. To find it: fathom hta on the "
      "traces of all ranks.";
  found.edit = [&facts, rows = seen.rows](Edits& edits, Effort effort) {
    for (const Waited& one : rows) {
      shorten_work(edits, facts.plan, one.row,
                   pick(effort, 0.5, 1.0, 1.0) * static_cast<double>(one.ns));
    }
  };
  return {found};
}

}  // namespace fathom::advise
