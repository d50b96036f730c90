#include "analyze/efficiency/collective_rates.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace fathom::analyze {

std::vector<CollectiveRate> collective_rates(const GpuWork& work,
                                             std::span<const CollectiveWork> of_one_gpu) {
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, CollectiveRate> rates;
  for (const CollectiveWork& one : of_one_gpu) {
    const std::int64_t time_ns = work.rows[one.row].duration_ns();
    const bool is_known = one.exchange != Exchange::other || !one.name.empty();
    if (!is_known || !one.bytes || one.ranks.value_or(0) < 2 || time_ns <= 0) continue;
    const std::string name = one.name.empty() ? std::string(name_of(one.exchange)) : one.name;
    CollectiveRate& rate = rates[{name, *one.bytes, *one.ranks}];
    rate.exchange = one.exchange;
    rate.name = name;
    rate.bytes = *one.bytes;
    rate.ranks = *one.ranks;
    ++rate.count;
    rate.time_ns += time_ns;
  }
  std::vector<CollectiveRate> found;
  for (auto& [key, rate] : rates) {
    found.push_back(std::move(rate));
  }
  std::ranges::stable_sort(found, std::ranges::greater{}, &CollectiveRate::time_ns);
  return found;
}

}  // namespace fathom::analyze
