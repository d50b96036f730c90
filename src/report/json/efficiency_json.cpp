#include <algorithm>

#include "report/efficiency_report.h"

namespace fathom::report {
namespace {

using base::JsonWriter;

void write_rate(JsonWriter& json, const analyze::WorkRate* rate) {
  const auto of = [&](auto figure) {
    return rate == nullptr ? std::nullopt : std::optional<double>(figure(*rate));
  };
  json.key("flop").value(of([](const auto& known) { return known.flop; }));
  json.key("bytes").value(of([](const auto& known) { return known.bytes; }));
  json.key("tflops").value(of([](const auto& known) { return known.tflops(); }));
  json.key("gb_s").value(of([](const auto& known) { return known.gb_s(); }));
  json.key("peak_pct").value(rate == nullptr ? std::nullopt : rate->peak_pct());
  json.key("bandwidth_pct").value(rate == nullptr ? std::nullopt : rate->bandwidth_pct());
  json.key("efficiency_pct").value(rate == nullptr ? std::nullopt : rate->efficiency_pct());
}

void write_peaks(JsonWriter& json, const analyze::DevicePeaks& peaks) {
  json.key("peaks").begin_object().key("fp32_tflops").value(peaks.fp32_tflops);
  json.key("tf32_tflops").value(peaks.tf32_tflops).key("fp16_tflops").value(peaks.fp16_tflops);
  json.key("fp8_tflops").value(peaks.fp8_tflops).key("memory_gb_s").value(peaks.memory_gb_s);
  json.key("link_gb_s").value(peaks.link_gb_s).end_object();
}

void write_work(JsonWriter& json, const analyze::Efficiency& used, std::size_t most) {
  json.key("work").begin_array();
  for (std::size_t i = 0; i < std::min(most, used.work.size()); ++i) {
    const analyze::ShapedWork& one = used.work[i];
    json.begin_object().key("operation").value(one.op).key("shapes").value(one.shapes);
    json.key("kernel").value(one.kernel).key("class").value(name_of(one.kernel_class));
    json.key("arithmetic");
    json.value(one.arithmetic ? std::optional(name_of(*one.arithmetic)) : std::nullopt);
    json.key("calls").value(one.rate.count).key("time_ns").value(one.rate.time_ns);
    write_rate(json, &one.rate);
    json.key("bound_by").value(one.rate.is_memory_bound() ? "memory" : "arithmetic").end_object();
  }
  json.end_array();
}

}  // namespace

void write_figures(JsonWriter& json, const analyze::NameFigures* figures) {
  write_rate(json, figures != nullptr && figures->rate ? &*figures->rate : nullptr);
  json.key("occupancy_pct").value(figures == nullptr ? std::nullopt : figures->occupancy_pct());
  json.key("tensor_cores");
  if (figures != nullptr && figures->on_tensor_cores) {
    json.value(*figures->on_tensor_cores);
  } else {
    json.null();
  }
}

void write_efficiency(JsonWriter& json, const analyze::Efficiency& used, std::size_t most) {
  json.key("efficiency").begin_object().key("device_name");
  json.value(used.device_name.empty() ? std::nullopt
                                      : std::optional<std::string_view>(used.device_name));
  write_peaks(json, used.peaks);
  json.key("has_shapes").value(used.has_shapes).key("mfu_pct").value(used.mfu_pct());
  json.key("known_matrix_pct").value(used.known_matrix_pct());
  json.key("tensor_core_pct").value(used.tensor_core_pct()).key("steps").begin_array();
  for (const analyze::StepUse& step : used.steps) {
    json.begin_object().key("name").value(step.name).key("time_ns").value(step.time_ns);
    json.key("flop").value(step.flop).key("mfu_pct").value(step.mfu_pct()).end_object();
  }
  json.end_array();
  write_work(json, used, most);
  json.key("collectives").begin_array();
  for (const analyze::CollectiveRate& one : used.collectives) {
    json.begin_object().key("name").value(one.name).key("bytes").value(one.bytes);
    json.key("ranks").value(one.ranks).key("count").value(one.count);
    json.key("time_ns").value(one.time_ns).key("alg_gb_s").value(one.alg_gb_s());
    json.key("bus_gb_s").value(one.bus_gb_s()).end_object();
  }
  json.end_array().key("text").begin_array();
  for (const std::string& sentence : efficiency_sentences(used)) json.value(sentence);
  json.end_array().end_object();
}

}  // namespace fathom::report
