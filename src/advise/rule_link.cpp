#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "advise/rules.h"
#include "analyze/efficiency/peaks.h"
#include "base/format.h"
#include "base/median.h"

// Trigger  Exchanges of 8 MB and more, of a group that fits into one machine, are the same each
//          time (within 10 %) and move less than 30 % of what the GPUs' links can in one direction.
//          That they are steady tells it from waiting for a late rank. They take 5 % of the run.
// Edit     All exchanges of 1 MB and more of such a group move 30, 70 and 70 % of that; so do those
//          that do not say their size but have the same kernel and take as long.
namespace fathom::advise {
namespace {

constexpr double kLinkTriggerPct = 5;
constexpr std::int64_t kLargeExchange = 8'000'000;
constexpr std::int64_t kSmallestSped = 1'000'000;
constexpr std::int64_t kOneMachine = 8;
constexpr double kSlow = 0.3;
constexpr double kSteady = 0.1;
constexpr std::size_t kOftenEnough = 3;

using ExchangeKey = std::tuple<Exchange, std::int64_t, std::int64_t>;  // with ranks and bytes

struct SlowExchange {
  ExchangeKey key;
  std::int64_t median_ns = 0;
  double bytes_per_ns = 0;  // on the bus
  trace::NameId kernel = 0;
};

std::optional<double> one_way(const Facts& facts) {
  if (!facts.peaks.link_gb_s) return std::nullopt;
  return *facts.peaks.link_gb_s / 2;  // GB/s are bytes per nanosecond
}

std::vector<SlowExchange> slow_exchanges(const Facts& facts, double link) {
  std::map<ExchangeKey, std::vector<std::uint32_t>> groups;
  for (const CollectiveWork& one : facts.collectives) {
    if (one.exchange == Exchange::other || !one.bytes || !one.ranks) continue;
    if (*one.bytes < kLargeExchange || *one.ranks < 2 || *one.ranks > kOneMachine) continue;
    groups[{one.exchange, *one.ranks, *one.bytes}].push_back(one.row);
  }
  std::vector<SlowExchange> found;
  for (const auto& [key, rows] : groups) {
    if (rows.size() < kOftenEnough) continue;
    std::vector<std::int64_t> times;
    for (const std::uint32_t row : rows) times.push_back(facts.on.gpu.rows[row].duration_ns());
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    const std::int64_t median = base::median(times);
    const auto spread = static_cast<double>(*most - *least) / static_cast<double>(median);
    const double rate = bus_factor(std::get<0>(key), std::get<1>(key)) *
                        static_cast<double>(std::get<2>(key)) / static_cast<double>(median);
    if (median <= 0 || spread >= kSteady || rate >= kSlow * link) continue;
    found.push_back({key, median, rate, facts.on.gpu.rows[rows.front()].name});
  }
  return found;
}

struct Sped {
  std::uint32_t row = 0;
  double needs_ns = 0;  // at all of what the link can do
};

// `slow` are of one machine and one link, so what holds for them holds for the others of it.
std::vector<Sped> exchanges_to_speed_up(const Facts& facts, const std::vector<SlowExchange>& slow,
                                        double link) {
  std::vector<Sped> found;
  for (const CollectiveWork& one : facts.collectives) {
    const WorkRow& row = facts.on.gpu.rows[one.row];
    if (one.bytes && one.ranks && one.exchange != Exchange::other) {
      if (*one.bytes < kSmallestSped || *one.ranks > kOneMachine || *one.ranks < 2) continue;
      const double bytes = bus_factor(one.exchange, *one.ranks) * static_cast<double>(*one.bytes);
      found.push_back({one.row, bytes / link});
      continue;
    }
    for (const SlowExchange& known : slow) {
      const auto off = std::abs(static_cast<double>(row.duration_ns() - known.median_ns));
      if (row.name != known.kernel || off > kSteady * static_cast<double>(known.median_ns))
        continue;
      const auto& [exchange, ranks, bytes] = known.key;
      found.push_back({one.row, bus_factor(exchange, ranks) * static_cast<double>(bytes) / link});
      break;
    }
  }
  return found;
}

}  // namespace

void add_slow_links(const Facts& facts, std::vector<std::int64_t>& ns) {
  const std::optional<double> link = one_way(facts);
  if (!link) return;
  const std::vector<SlowExchange> slow = slow_exchanges(facts, *link);
  if (slow.empty()) return;
  for (const Sped& one : exchanges_to_speed_up(facts, slow, *link)) {
    ns[one.row] = facts.on.gpu.rows[one.row].duration_ns();
  }
}

Candidates rule_link(const Facts& facts) {
  const std::optional<double> link = one_way(facts);
  if (!link) return {};
  const std::vector<SlowExchange> slow = slow_exchanges(facts, *link);
  if (slow.empty()) return {};
  const std::vector<Sped> sped = exchanges_to_speed_up(facts, slow, *link);
  std::int64_t concerns = 0;
  std::vector<std::uint32_t> rows;
  for (const Sped& one : sped) {
    rows.push_back(one.row);
    concerns += facts.on.gpu.rows[one.row].duration_ns();
  }
  if (facts.share(concerns) < kLinkTriggerPct) return {};
  const SlowExchange& worst = *std::max_element(
      slow.begin(), slow.end(),
      [](const SlowExchange& a, const SlowExchange& b) { return a.median_ns < b.median_ns; });
  Candidate found = found_by("link", SuggestionType::parallelization, concerns);
  show_work(found.words, facts, rows);
  found.words.operation = facts.trace.name(found.words.evidence.front());
  found.words.title = "Find out why the GPUs exchange data so slowly";
  const auto& [exchange, ranks, bytes] = worst.key;
  found.words.description = fmt::format(
      "Every {} of {} among {} GPUs takes {}: {:.1f} GB/s on the bus, {} of the {:.0f} GB/s that "
      "their links can do one way. The time hardly varies, which speaks against "
      "waiting for a late rank.",
      name_of(exchange), base::format_bytes(static_cast<double>(bytes)), ranks,
      base::format_duration(worst.median_ns), worst.bytes_per_ns,
      base::format_percent(worst.bytes_per_ns / *link * 100), *link);
  found.supposes = "if they run at 70 % of the link";
  found.words.implementation_hint =
      facts.platform.runtime == Runtime::hip
          ? "The log says what the ranks are connected by: P2P over the GPUs' own links, or shared "
            "memory, or the network.\n"
            "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET  # look for P2P, SHM and NET\n"
            "rocm-smi --showtopo"
          : "The log says what the ranks are connected by: P2P over the GPUs' own links, or shared "
            "memory, or the network.\n"
            "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET  # look for P2P, SHM and NET\n"
            "nvidia-smi topo -m";
  found.edit = [&facts, sped](Edits& edits, Effort effort) {
    for (const Sped& one : sped) {
      const auto whole = static_cast<double>(facts.on.gpu.rows[one.row].duration_ns());
      const double takes = one.needs_ns / pick(effort, 0.3, 0.7, 0.7);
      if (takes < whole) scale_work(edits, facts.plan, one.row, takes / whole);
    }
  };
  return {found};
}

}  // namespace fathom::advise
