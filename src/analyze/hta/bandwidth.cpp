#include "analyze/hta/bandwidth.h"

#include <algorithm>
#include <map>

namespace fathom::analyze {
namespace {

struct Group {
  Bandwidth figures;
  std::vector<double> rates;
  std::int64_t busy_until_ns = INT64_MIN;
};

// "Memcpy HtoD (Pinned -> Device)" → "Memcpy HtoD".
std::string_view direction(std::string_view name) {
  const std::size_t end = name.find(" (");
  return end == std::string_view::npos ? name : name.substr(0, end);
}

void add(Group& group, const WorkRow& row, std::int64_t bytes) {
  Bandwidth& figures = group.figures;
  ++figures.count;
  figures.bytes += bytes;
  figures.busy_ns +=
      std::max<std::int64_t>(0, row.end_ns - std::max(row.start_ns, group.busy_until_ns));
  group.busy_until_ns = std::max(group.busy_until_ns, row.end_ns);
  if (row.duration_ns() > 0) {
    group.rates.push_back(static_cast<double>(bytes) / static_cast<double>(row.duration_ns()));
  }
}

Bandwidth finish(Group& group) {
  Bandwidth& figures = group.figures;
  if (figures.busy_ns > 0) {
    figures.mean_gb_s = static_cast<double>(figures.bytes) / static_cast<double>(figures.busy_ns);
  }
  if (!group.rates.empty()) {
    const auto [least, most] = std::minmax_element(group.rates.begin(), group.rates.end());
    figures.min_gb_s = *least;
    figures.max_gb_s = *most;
    const auto middle =
        group.rates.begin() + static_cast<std::ptrdiff_t>((group.rates.size() - 1) / 2);
    std::nth_element(group.rates.begin(), middle, group.rates.end());
    figures.median_gb_s = *middle;
  }
  return std::move(figures);
}

}  // namespace

std::vector<Bandwidth> bandwidths(const trace::Trace& trace, const GpuWork& work,
                                  const DeviceWork& device) {
  std::map<trace::NameId, Group*> by_name;
  std::map<std::string, Group, std::less<>> groups;
  for (const std::uint32_t at : device.by_start) {
    const WorkRow& row = work.rows[at];
    if (row.type != WorkType::memory) continue;
    const auto known = std::lower_bound(
        trace.bytes.begin(), trace.bytes.end(), row.span,
        [](const trace::SpanBytes& a, trace::SpanId span) { return a.span < span; });
    if (known == trace.bytes.end() || known->span != row.span) continue;
    Group*& group = by_name[row.name];
    if (group == nullptr) group = &groups[std::string(direction(trace.names.view(row.name)))];
    add(*group, row, known->bytes);
  }
  std::vector<Bandwidth> found;
  for (auto& [name, group] : groups) {
    group.figures.name = name;
    found.push_back(finish(group));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Bandwidth& a, const Bandwidth& b) { return a.bytes > b.bytes; });
  return found;
}

}  // namespace fathom::analyze
