#include "analyze/efficiency/collectives.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string>
#include <utility>

#include "analyze/efficiency/op_args.h"
#include "analyze/operations/named_spans.h"
#include "base/contains.h"
#include "base/interval_set.h"
#include "base/json_scan.h"

namespace fathom::analyze {
namespace {

using trace::kNoSpan;
using trace::SpanId;

struct CollectiveArgs {
  std::string name;
  std::string type;
  std::optional<std::int64_t> elements;
  std::optional<std::int64_t> ranks;
};

CollectiveArgs collective_args(const std::string& json) {
  CollectiveArgs found;
  base::for_each_member(json, base::JsonScanner::Mode::lenient,
                        [&](std::string_view key, std::string_view value) {
                          if (key == "Collective name")
                            found.name = base::text_of(value).value_or("");
                          if (key == "dtype") found.type = base::text_of(value).value_or("");
                          if (key == "Group size") found.ranks = base::integer_of(value);
                          if (key == "In msg nelems" || key == "Out msg nelems") {
                            const auto elements = base::integer_of(value);
                            if (elements)
                              found.elements = std::max(found.elements.value_or(0), *elements);
                          }
                        });
  return found;
}

std::optional<std::int64_t> bytes_of(double elements, int size) {
  const double bytes = elements * size;
  if (size <= 0 || bytes <= 0 || bytes > 1e18) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

// Of "record_param_comms": its first input is what goes in, where that is one tensor.
std::optional<std::int64_t> input_bytes(const std::string& json) {
  const std::vector<OpInput> inputs = op_inputs(json);
  if (inputs.empty() || !inputs.front().is_tensor()) return std::nullopt;
  return bytes_of(inputs.front().elements(), inputs.front().bytes);
}

// Sources say what a collective is in its arguments or never do: where the first few do not, the
// others are not looked for.
class Looked {
 public:
  bool is_worth_it() const { return found_ || times_ < kEnough; }
  void note(bool found) {
    found_ |= found;
    ++times_;
  }

 private:
  static constexpr int kEnough = 50;
  int times_ = 0;
  bool found_ = false;
};

class CollectiveReader {
 public:
  explicit CollectiveReader(const trace::Trace& trace)
      : trace_(trace),
        is_annotation_(names_that(trace,
                                  [](std::string_view name) {
                                    return name.starts_with("nccl:") &&
                                           exchange_of(name) != Exchange::other;
                                  })),
        is_record_(names_that(
            trace, [](std::string_view name) { return name == "record_param_comms"; })) {}

  CollectiveWork read(std::uint32_t index, const WorkRow& row) {
    CollectiveWork found;
    found.row = index;
    if (kernels_.is_worth_it()) {
      take(found, collective_args(trace_.args(row.span)));
      kernels_.note(found.bytes.has_value());
    }
    if (!found.bytes && records_.is_worth_it()) read_record(found, row);
    if (found.exchange != Exchange::other) return found;
    const SpanId annotation = innermost_around(trace_.spans, row.launch, is_annotation_);
    found.exchange =
        exchange_of(annotation == kNoSpan ? trace_.names.view(row.name) : trace_.name(annotation));
    return found;
  }

 private:
  void read_record(CollectiveWork& found, const WorkRow& row) {
    const SpanId record = innermost_around(trace_.spans, row.launch, is_record_);
    if (record == kNoSpan) return;
    const std::string json = trace_.args(record);
    take(found, collective_args(json));
    if (!found.bytes) found.bytes = input_bytes(json);
    records_.note(found.bytes.has_value());
  }

  static void take(CollectiveWork& into, const CollectiveArgs& args) {
    if (into.name.empty()) into.name = args.name;
    if (into.exchange == Exchange::other) into.exchange = exchange_of(args.name);
    if (!into.ranks) into.ranks = args.ranks;
    if (!into.bytes && args.elements) {
      into.bytes = bytes_of(static_cast<double>(*args.elements), bytes_of_type(args.type));
    }
  }

  const trace::Trace& trace_;
  std::vector<bool> is_annotation_;
  std::vector<bool> is_record_;
  Looked kernels_;
  Looked records_;
};

base::IntervalSet other_work(const GpuWork& gpu, const DeviceWork& device) {
  std::vector<base::Interval> time;
  for (const std::uint32_t i : device.by_start) {
    const WorkRow& row = gpu.rows[i];
    if (row.type != WorkType::communication) time.push_back({row.start_ns, row.end_ns});
  }
  return base::normalize(std::move(time));
}

std::vector<CollectiveWork> collectives_on(CollectiveReader& reader, const GpuWork& gpu,
                                           const DeviceWork& device) {
  std::vector<CollectiveWork> found;
  base::IntervalSet others;
  for (const std::uint32_t i : device.by_start) {
    const WorkRow& row = gpu.rows[i];
    if (row.type != WorkType::communication) continue;
    if (found.empty()) others = other_work(gpu, device);
    CollectiveWork one = reader.read(i, row);
    one.alone_ns = row.duration_ns() - base::length_within(others, {row.start_ns, row.end_ns});
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace

std::string_view name_of(Exchange exchange) {
  constexpr std::array<std::string_view, 7> kNames = {"exchange",       "all-reduce", "all-gather",
                                                      "reduce-scatter", "all-to-all", "broadcast",
                                                      "reduce"};
  return kNames[static_cast<std::size_t>(exchange)];
}

Exchange exchange_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Exchange>, 6> kWords = {
      {{"allreduce", Exchange::all_reduce},
       {"allgather", Exchange::all_gather},
       {"reducescatter", Exchange::reduce_scatter},
       {"alltoall", Exchange::all_to_all},
       {"broadcast", Exchange::broadcast},
       {"crossdevicereduce", Exchange::all_reduce}}};
  std::string letters;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  for (const auto& [word, exchange] : kWords) {
    if (base::contains(letters, word)) return exchange;
  }
  if (letters == "reduce" || letters == "ncclreduce" || letters.starts_with("ncclkernelreduce") ||
      letters.starts_with("nccldevkernelreduce")) {
    return Exchange::reduce;
  }
  return Exchange::other;
}

double bus_factor(Exchange exchange, std::int64_t ranks) {
  const double n = static_cast<double>(ranks);
  switch (exchange) {
    case Exchange::all_reduce:
      return 2 * (n - 1) / n;
    case Exchange::all_gather:
    case Exchange::reduce_scatter:
    case Exchange::all_to_all:
      return (n - 1) / n;
    default:
      return 1;
  }
}

std::vector<std::vector<CollectiveWork>> collectives_by_device(const trace::Trace& trace,
                                                               const GpuWork& gpu) {
  std::vector<std::vector<CollectiveWork>> found;
  CollectiveReader reader(trace);
  for (const DeviceWork& device : gpu.devices) {
    found.push_back(collectives_on(reader, gpu, device));
  }
  return found;
}

std::vector<CollectiveWork> collectives_of(const trace::Trace& trace, const GpuWork& gpu) {
  std::vector<CollectiveWork> all;
  for (std::vector<CollectiveWork>& some : collectives_by_device(trace, gpu)) {
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace fathom::analyze
