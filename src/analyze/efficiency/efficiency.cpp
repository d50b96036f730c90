#include "analyze/efficiency/efficiency.h"

#include <algorithm>

#include "analyze/classes/class_index.h"
#include "analyze/efficiency/kernel_math.h"
#include "analyze/efficiency/op_work.h"
#include "analyze/hta/device_info.h"
#include "base/contains.h"
#include "base/json_scan.h"
#include "base/pair_index.h"
#include "base/sort_runs.h"

namespace fathom::analyze {
namespace {

using trace::SpanId;

constexpr double kFlopPerNs = 1e3;  // of a TFLOP/s

std::optional<double> least_ns(double amount, std::optional<double> per_ns) {
  if (!per_ns) return std::nullopt;
  return amount / *per_ns;
}

// Of one operation: its floors, by what it has to do.
WorkRate rate_of(const OpWork& work, std::optional<Arithmetic> arithmetic,
                 const DevicePeaks& peaks) {
  WorkRate rate;
  rate.flop = work.flop;
  rate.bytes = work.bytes;
  rate.bytes_floor_ns = least_ns(work.bytes, peaks.memory_gb_s);
  const std::optional<double> tflops = !work.is_matrix ? peaks.fp32_tflops
                                       : arithmetic    ? peaks.tflops(*arithmetic)
                                                       : std::nullopt;
  if (tflops) rate.flop_floor_ns = work.flop / (*tflops * kFlopPerNs);
  if (rate.bytes_floor_ns && rate.flop_floor_ns) {
    rate.floor_ns = std::max(*rate.bytes_floor_ns, *rate.flop_floor_ns);
  } else if (!work.is_matrix) {
    rate.floor_ns = rate.bytes_floor_ns;
  }
  return rate;
}

// What one operation launched, by the operation's span.
struct Launched {
  SpanId op;
  std::uint32_t row;
};

// Which operations launched what, and which of them have known work; for all GPUs of a trace.
class Operations {
 public:
  explicit Operations(const trace::Trace& trace)
      : trace_(trace),
        index_(trace),
        known_(trace.names.size(), Known::not_asked),
        graphs_(trace.names.size()) {
    for (trace::NameId id = 0; id < trace.names.size(); ++id) {
      graphs_[id] = base::contains(trace.names.view(id), "GraphLaunch");
    }
  }

  // The operation around a launch, if the work of such could be known; else kNoSpan.
  SpanId of(SpanId launch) {
    const SpanId op = index_.operation_of(launch);
    if (op == trace::kNoSpan) return op;
    Known& is_known = known_[trace_.spans.name[op]];
    if (is_known == Known::not_asked) {
      is_known = has_known_work(trace_.name(op)) ? Known::yes : Known::no;
    }
    return is_known == Known::yes ? op : trace::kNoSpan;
  }

  bool launches_graph(SpanId launch) const {
    return launch != trace::kNoSpan && graphs_[trace_.spans.name[launch]];
  }

 private:
  enum class Known : std::uint8_t { not_asked, no, yes };

  const trace::Trace& trace_;
  ClassIndex index_;
  std::vector<Known> known_;  // by name
  std::vector<bool> graphs_;  // by name
};

class Gathering {
 public:
  Gathering(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device,
            const DevicePeaks& peaks, Operations& operations)
      : trace_(trace), work_(work), device_(device), peaks_(peaks), operations_(operations) {}

  void gather(Efficiency& found) {
    launched_in_operations(found);
    for (std::size_t first = 0; first < launched_.size();) {
      std::size_t end = first + 1;
      while (end < launched_.size() && launched_[end].op == launched_[first].op) ++end;
      add_operation(std::span(launched_).subspan(first, end - first), found);
      first = end;
    }
    for (const ShapedWork& one : found.work) {
      add_by_name(found, one.op, one.rate);
      if (4 * one.kernel_ns >= 3 * one.rate.time_ns) add_by_name(found, one.kernel, one.rate);
      add_by_class(found, one);
    }
    std::ranges::stable_sort(found.work, [](const ShapedWork& a, const ShapedWork& b) {
      return a.rate.time_ns > b.rate.time_ns;
    });
  }

  // Matrix work with known FLOP, by when it was launched.
  struct MatrixWork {
    std::int64_t launched_ns;
    double flop;
    std::optional<double> floor_ns;
  };
  const std::vector<MatrixWork>& matrix_work() const { return matrix_; }
  std::int64_t known_matrix_ns() const { return known_matrix_ns_; }

 private:
  void launched_in_operations(Efficiency& found) {
    for (const std::uint32_t at : device_.by_start) {
      const SpanId op = operations_.of(work_.rows[at].launch);
      if (op == trace::kNoSpan) continue;
      found.could_have_shapes = true;
      if (trace_.spans.shape[op] != 0) launched_.push_back({op, at});
    }
    found.has_shapes = !launched_.empty();
    base::sort_runs(std::span(launched_),
                    [](const Launched& a, const Launched& b) { return a.op < b.op; });
  }

  void add_operation(std::span<const Launched> all, Efficiency& found) {
    std::int64_t time_ns = 0;
    const WorkRow* longest = &work_.rows[all.front().row];
    for (const Launched& one : all) {
      const WorkRow& row = work_.rows[one.row];
      time_ns += row.duration_ns();
      if (row.duration_ns() > longest->duration_ns()) longest = &row;
    }
    if (longest->type != WorkType::compute) return;  // a copy from or to the host, say
    const std::uint32_t place = place_of(all.front().op, *longest, found);
    if (place == kUnknown) return;
    ShapedWork& group = found.work[place];
    const WorkRate& one = single_[place];
    group.rate.add(one);
    group.rate.time_ns += time_ns;
    group.kernel_ns += longest->duration_ns();
    if (!is_matrix_class(group.kernel_class)) return;
    known_matrix_ns_ += time_ns;
    matrix_.push_back({trace_.spans.start_ns[longest->launch], one.flop, one.flop_floor_ns});
  }

  // Where operations of this name, with these shapes, that run this kernel are in `found.work`.
  // Arguments are looked at once per place: the kernel follows from types and options.
  std::uint32_t place_of(SpanId op, const WorkRow& longest, Efficiency& found) {
    std::uint32_t& shaped = shaped_.at(trace_.spans.name[op], trace_.spans.shape[op]);
    if (shaped == base::PairIndex::kNone) shaped = next_shaped_++;
    std::uint32_t& place = places_.at(shaped, longest.name);
    if (place != base::PairIndex::kNone) return place;
    place = kUnknown;
    const std::string args = trace_.args(op);
    const std::optional<OpWork> work = op_work(trace_.name(op), op_inputs(args));
    if (!work || !(work->flop + work->bytes > 0)) return kUnknown;
    place = static_cast<std::uint32_t>(found.work.size());
    ShapedWork group;
    group.op = trace_.name(op);
    group.shapes = trace_.names.view(trace_.spans.shape[op]);
    group.kernel = trace_.names.view(longest.name);
    group.kernel_class = longest.kernel_class;
    if (work->is_matrix) group.arithmetic = arithmetic_of(*work, group.kernel);
    single_.push_back(rate_of(*work, group.arithmetic, peaks_));
    single_.back().count = 1;
    found.work.push_back(std::move(group));
    return place;
  }

  static void add_by_name(Efficiency& found, const std::string& name, const WorkRate& rate) {
    std::optional<WorkRate>& sum = found.by_name[name].rate;
    if (!sum) sum.emplace();
    sum->add(rate);
  }

  static void add_by_class(Efficiency& found, const ShapedWork& one) {
    ClassUse& use = found.by_class[static_cast<std::size_t>(one.kernel_class)];
    use.known.add(one.rate);
    if (one.arithmetic == Arithmetic::fp32) use.fp32_ns += one.rate.time_ns;
  }

  static constexpr std::uint32_t kUnknown = base::PairIndex::kNone - 1;

  const trace::Trace& trace_;
  const GpuWork& work_;
  const DeviceWork& device_;
  const DevicePeaks& peaks_;
  Operations& operations_;
  std::vector<Launched> launched_;
  base::PairIndex shaped_;
  base::PairIndex places_;
  std::uint32_t next_shaped_ = 0;
  std::vector<WorkRate> single_;  // of one operation of each place
  std::vector<MatrixWork> matrix_;
  std::int64_t known_matrix_ns_ = 0;
};

// A kernel with one grid and block has one occupancy: it is looked for once.
void add_occupancy(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device,
                   Efficiency& found) {
  base::PairIndex index;
  std::vector<std::optional<double>> known;
  std::map<trace::NameId, NameFigures> sums;
  for (const std::uint32_t at : device.by_start) {
    const WorkRow& row = work.rows[at];
    if (trace.spans.shape[row.span] == 0) continue;
    std::uint32_t& place = index.at(row.name, trace.spans.shape[row.span]);
    if (place == base::PairIndex::kNone) {
      place = static_cast<std::uint32_t>(known.size());
      known.emplace_back();
      base::for_each_member(trace.args(row.span), base::JsonScanner::Mode::lenient,
                            [&](std::string_view key, std::string_view value) {
                              if (key != "est. achieved occupancy %") return;
                              known.back() = base::real_of(value);
                            });
    }
    if (!known[place]) continue;
    const auto ns = static_cast<double>(row.duration_ns());
    sums[row.name].occupancy_pct_ns += *known[place] * ns;
    sums[row.name].occupancy_ns += ns;
  }
  for (const auto& [name, sum] : sums) {
    found.by_name[std::string(trace.names.view(name))].add(sum);
  }
}

void add_times(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device,
               Operations& operations, Efficiency& found) {
  std::map<trace::NameId, std::int64_t> times;
  for (const std::uint32_t at : device.by_start) {
    const WorkRow& row = work.rows[at];
    ClassUse& use = found.by_class[static_cast<std::size_t>(row.kernel_class)];
    use.time_ns += row.duration_ns();
    if (operations.launches_graph(row.launch)) use.graph_ns += row.duration_ns();
    if (is_matrix_class(row.kernel_class)) times[row.name] += row.duration_ns();
  }
  for (const auto& [name, ns] : times) {
    found.matrix_ns += ns;
    const std::optional<bool> uses = on_tensor_cores(trace.names.view(name));
    if (!uses) continue;
    found.by_name[std::string(trace.names.view(name))].on_tensor_cores = uses;
    found.told_matrix_ns += ns;
    if (*uses) found.tensor_core_ns += ns;
  }
}

// The steps of the host; a time belongs to the last that began before.
class Steps {
 public:
  Steps(const trace::Trace& trace, const std::vector<SpanId>& spans)
      : trace_(trace), spans_(spans) {}

  std::size_t size() const { return spans_.size(); }
  std::int64_t begin_ns(std::size_t step) const { return trace_.spans.start_ns[spans_[step]]; }
  std::int64_t end_ns(std::size_t step) const { return trace_.spans.end_ns(spans_[step]); }
  std::string name(std::size_t step) const { return std::string(trace_.name(spans_[step])); }
  // size() where it is before them all.
  std::size_t at(std::int64_t time_ns) const {
    const auto next = std::ranges::upper_bound(
        spans_, time_ns, {}, [&](SpanId id) { return trace_.spans.start_ns[id]; });
    return next == spans_.begin() ? size() : static_cast<std::size_t>(next - spans_.begin()) - 1;
  }

 private:
  const trace::Trace& trace_;
  const std::vector<SpanId>& spans_;
};

// What a GPU did for a step.
struct StepSum {
  std::int64_t begin_ns = INT64_MAX;
  std::int64_t end_ns = INT64_MIN;
  double flop = 0;
  double floor_ns = 0;
};

// Steps in which this GPU was given work; steps.size() is for what was launched before them. Work
// whose launch is not known may be of any.
using StepSums = std::map<std::size_t, StepSum>;

StepSums windows_of(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device,
                    const Steps& steps) {
  StepSums sums;
  for (const std::uint32_t at : device.by_start) {
    const WorkRow& row = work.rows[at];
    if (row.launch == trace::kNoSpan) continue;
    StepSum& sum = sums[steps.at(trace.spans.start_ns[row.launch])];
    sum.begin_ns = std::min(sum.begin_ns, row.start_ns);
    sum.end_ns = std::max(sum.end_ns, row.end_ns);
  }
  const auto first = sums.find(0);
  if (first != sums.end() && steps.size() > 0) {  // the GPU may begin late
    first->second.begin_ns = std::min(first->second.begin_ns, steps.begin_ns(0));
  }
  return sums;
}

void add_steps(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device,
               const Steps& steps, const Gathering& gathered, Efficiency& found) {
  StepSums sums = windows_of(trace, work, device, steps);
  for (const Gathering::MatrixWork& one : gathered.matrix_work()) {
    if (!one.floor_ns) return;  // a peak is not known
    StepSum& sum = sums[steps.at(one.launched_ns)];
    sum.flop += one.flop;
    sum.floor_ns += *one.floor_ns;
  }
  for (auto at = sums.begin(); at != sums.end() && at->first < steps.size(); ++at) {
    const auto& [step, sum] = *at;
    const auto next = std::next(at);
    const bool has_next = next != sums.end() && next->first == step + 1 &&
                          next->first < steps.size() && next->second.begin_ns > sum.begin_ns;
    const std::int64_t end_ns =
        has_next ? next->second.begin_ns : std::max(sum.end_ns, steps.end_ns(step));
    found.steps.push_back({steps.name(step), end_ns - sum.begin_ns, sum.flop, sum.floor_ns});
    found.used_ns += found.steps.back().time_ns;
    found.used_floor_ns += sum.floor_ns;
  }
  if (found.steps.empty() && !sums.empty()) {
    const StepSum& all = sums.begin()->second;
    found.used_ns = all.end_ns - all.begin_ns;
    found.used_floor_ns = all.floor_ns;
  }
}

Efficiency efficiency(const trace::Trace& trace, const GpuWork& work, const DeviceWork& device,
                      const Steps& steps, const DevicePeaks& given, Operations& operations) {
  Efficiency found;
  if (const trace::DeviceInfo* info = device_info(trace, device.device)) {
    found.device_name = info->name;
    found.peaks = peaks_of(info->name, info->memory_bytes);
  }
  found.peaks = with_given(found.peaks, given);
  Gathering gathering(trace, work, device, found.peaks, operations);
  gathering.gather(found);
  add_occupancy(trace, work, device, found);
  add_times(trace, work, device, operations, found);
  found.known_matrix_ns = std::min(gathering.known_matrix_ns(), found.matrix_ns);
  if (found.has_shapes) add_steps(trace, work, device, steps, gathering, found);
  return found;
}

}  // namespace

std::vector<Efficiency> efficiencies(const trace::Trace& trace, const GpuWork& work,
                                     const std::vector<SpanId>& steps, const DevicePeaks& given) {
  Operations operations(trace);
  std::vector<Efficiency> found;
  const std::vector<std::vector<CollectiveWork>> collectives = collectives_by_device(trace, work);
  for (std::size_t i = 0; i < work.devices.size(); ++i) {
    found.push_back(
        efficiency(trace, work, work.devices[i], Steps(trace, steps), given, operations));
    found.back().collectives = collective_rates(work, collectives[i]);
  }
  const auto wants_shapes = [](const Efficiency& gpu) {
    return gpu.could_have_shapes && !gpu.has_shapes;
  };
  if (std::ranges::any_of(found, wants_shapes)) {
    const Server server = server_of(trace);
    for (Efficiency& gpu : found) gpu.server = server;
  }
  return found;
}

}  // namespace fathom::analyze
