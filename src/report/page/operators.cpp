#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/hta/hta_summary.h"
#include "report/page/sections.h"

namespace fathom::report {
namespace {

// Most time first.
void write_named(base::JsonWriter& json, const std::vector<NamedOperator>& operators) {
  std::int64_t whole_ns = 0;
  for (const NamedOperator& one : operators) whole_ns += one.sum_ns;
  std::unordered_map<std::string_view, std::size_t> places;  // of kernels among those written
  json.key("operators").begin_object().key("kernels").begin_array();
  for (const NamedOperator& one : operators) {
    for (const std::string& kernel : one.kernels) {
      if (places.try_emplace(kernel, places.size()).second) json.value(kernel);
    }
  }
  json.end_array().key("list").begin_array();
  for (const NamedOperator& one : operators) {
    json.begin_object().key("name").value(one.name).key("calls").value(one.calls);
    json.key("sum_ns").value(one.sum_ns);
    json.key("share_pct").value(analyze::percent_of(one.sum_ns, whole_ns));
    json.key("kernels").begin_array();
    for (const std::string& kernel : one.kernels) json.value(places.at(kernel));
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::vector<NamedOperator> named_operators(const explain::Analysis& analysis, bool all_steps) {
  const trace::Trace& trace = analysis.trace();
  std::vector<NamedOperator> named;
  for (const analyze::LaunchingOperator& one : analysis.launching_operators(all_steps)) {
    NamedOperator& its = named.emplace_back();
    its.name = one.name;
    its.calls = one.calls;
    its.sum_ns = one.sum_ns;
    for (const trace::NameId kernel : one.kernels) {
      its.kernels.emplace_back(trace.names.view(kernel));
    }
  }
  return named;
}

void write_operators(base::JsonWriter& json, const explain::Analysis& analysis) {
  write_named(json, named_operators(analysis, true));
}

void write_operators(base::JsonWriter& json, std::span<const PlacedTimeline> ranks) {
  std::vector<NamedOperator> all;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const PlacedTimeline& rank : ranks) {
    for (const NamedOperator& one : rank.timeline.operators) {
      const auto [place, is_new] = places.try_emplace(one.name, all.size());
      if (is_new) all.push_back({one.name, 0, 0, {}});
      NamedOperator& its = all[place->second];
      its.calls += one.calls;
      its.sum_ns += one.sum_ns;
      its.kernels.insert(its.kernels.end(), one.kernels.begin(), one.kernels.end());
    }
  }
  for (NamedOperator& one : all) {
    std::ranges::sort(one.kernels);
    one.kernels.erase(std::unique(one.kernels.begin(), one.kernels.end()), one.kernels.end());
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &NamedOperator::sum_ns);
  write_named(json, all);
}

void write_no_operators(base::JsonWriter& json) {
  write_named(json, {});
}

}  // namespace fathom::report
