#include <algorithm>
#include <tuple>

#include "analyze/efficiency/efficiency.h"

namespace fathom::analyze {
namespace {

constexpr double kLeastKnownMatrixPct = 50;  // with less, an MFU would say little

void add_known(std::optional<double>& sum, const std::optional<double>& one) {
  sum = sum && one ? std::optional(*sum + *one) : std::nullopt;
}

std::optional<double> share_pct(double part, double whole) {
  return whole > 0 ? std::optional(part / whole * 100) : std::nullopt;
}

void join_work(std::vector<ShapedWork>& all, const std::vector<Efficiency>& gpus) {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::size_t> places;
  for (const Efficiency& gpu : gpus) {
    for (const ShapedWork& one : gpu.work) {
      const auto [at, is_new] = places.try_emplace({one.op, one.shapes, one.kernel}, all.size());
      if (is_new) {
        all.push_back(one);
      } else {
        all[at->second].rate.add(one.rate);
        all[at->second].kernel_ns += one.kernel_ns;
      }
    }
  }
  std::ranges::stable_sort(all, [](const ShapedWork& a, const ShapedWork& b) {
    return a.rate.time_ns > b.rate.time_ns;
  });
}

void join_collectives(std::vector<CollectiveRate>& all, const std::vector<Efficiency>& gpus) {
  std::map<std::tuple<std::string_view, std::int64_t, std::int64_t>, std::size_t> places;
  for (const Efficiency& gpu : gpus) {
    for (const CollectiveRate& one : gpu.collectives) {
      const auto [at, is_new] = places.try_emplace({one.name, one.bytes, one.ranks}, all.size());
      if (is_new) {
        all.push_back(one);
      } else {
        all[at->second].add(one);
      }
    }
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &CollectiveRate::time_ns);
}

}  // namespace

void WorkRate::add(const WorkRate& other) {
  if (count == 0) {
    *this = other;
    return;
  }
  count += other.count;
  time_ns += other.time_ns;
  flop += other.flop;
  bytes += other.bytes;
  add_known(flop_floor_ns, other.flop_floor_ns);
  add_known(bytes_floor_ns, other.bytes_floor_ns);
  add_known(floor_ns, other.floor_ns);
}

void NameFigures::add(const NameFigures& other) {
  if (other.rate) {
    if (!rate) rate.emplace();
    rate->add(*other.rate);
  }
  occupancy_pct_ns += other.occupancy_pct_ns;
  occupancy_ns += other.occupancy_ns;
  if (!on_tensor_cores) on_tensor_cores = other.on_tensor_cores;
}

void ClassUse::add(const ClassUse& other) {
  time_ns += other.time_ns;
  fp32_ns += other.fp32_ns;
  graph_ns += other.graph_ns;
  if (other.known.count > 0) known.add(other.known);
}

std::optional<double> Efficiency::mfu_pct() const {
  if (known_matrix_pct().value_or(0) < kLeastKnownMatrixPct) return std::nullopt;
  return share_pct(used_floor_ns, static_cast<double>(used_ns));
}

std::optional<double> Efficiency::known_matrix_pct() const {
  if (!has_shapes) return std::nullopt;
  return share_pct(static_cast<double>(known_matrix_ns), static_cast<double>(matrix_ns));
}

std::optional<double> Efficiency::tensor_core_pct() const {
  return share_pct(static_cast<double>(tensor_core_ns), static_cast<double>(told_matrix_ns));
}

const NameFigures* Efficiency::of(std::string_view name) const {
  const auto at = by_name.find(name);
  return at == by_name.end() ? nullptr : &at->second;
}

Efficiency join(const std::vector<Efficiency>& gpus) {
  if (gpus.size() == 1) return gpus.front();
  Efficiency all;
  if (gpus.empty()) return all;
  all.device_name = gpus.front().device_name;
  all.peaks = gpus.front().peaks;
  for (const Efficiency& gpu : gpus) {
    all.has_shapes = all.has_shapes || gpu.has_shapes;
    all.could_have_shapes = all.could_have_shapes || gpu.could_have_shapes;
    all.server = std::max(all.server, gpu.server);
    for (const auto& [name, figures] : gpu.by_name) all.by_name[name].add(figures);
    for (std::size_t i = 0; i < kKernelClasses; ++i) all.by_class[i].add(gpu.by_class[i]);
    all.matrix_ns += gpu.matrix_ns;
    all.known_matrix_ns += gpu.known_matrix_ns;
    all.told_matrix_ns += gpu.told_matrix_ns;
    all.tensor_core_ns += gpu.tensor_core_ns;
    all.used_floor_ns += gpu.used_floor_ns;
    all.used_ns += gpu.used_ns;
  }
  join_work(all.work, gpus);
  join_collectives(all.collectives, gpus);
  return all;
}

}  // namespace fathom::analyze
