#include "base/json_writer.h"
#include "report/shares_report.h"

namespace fathom::report {
namespace {

using analyze::GpuShares;
using analyze::IdleTime;
using base::JsonWriter;

constexpr std::array<std::string_view, 3> kBases = {"program", "steps", "activity"};

std::optional<std::string_view> known(const std::string& text) {
  return text.empty() ? std::optional<std::string_view>() : std::string_view(text);
}

void write_exposed(JsonWriter& json, const char* name, const analyze::ExposedWork& work) {
  json.key(name).begin_object().key("what").value(known(work.what));
  json.key("exposed_ns").value(work.what_ns).key("calls").value(work.calls);
  json.key("work_ns").value(work.work_ns).key("bytes").value(work.bytes).end_object();
}

void write_cause(JsonWriter& json, analyze::IdleCause cause, const IdleTime& idle) {
  json.begin_object().key("cause").value(analyze::name_of(cause));
  json.key("ns").value(idle.ns).key("gaps").value(idle.gaps);
  json.key("longest_ns").value(idle.longest_ns).key("what").value(known(idle.what));
  json.key("call").value(known(idle.call)).key("what_ns").value(idle.what_ns);
  json.key("what_gaps").value(idle.what_gaps).key("bytes").value(idle.bytes);
  json.key("queued").value(idle.queued).end_object();
}

}  // namespace

void write_wall(JsonWriter& json, const analyze::RunShares& run) {
  const analyze::Wall& wall = run.wall;
  json.key("basis").value(kBases[static_cast<std::size_t>(wall.basis)]);
  json.key("begin_ns").value(wall.time.begin).key("end_ns").value(wall.time.end);
  json.key("wall_ns").value(wall.length_ns()).key("set_up_ns").value(wall.set_up_ns());
  json.key("set_up_call").value(known(wall.set_up_call));
  json.key("unknown_ns").value(wall.unknown_ns()).key("step_ns").value(run.step_ns);
}

void write_shares(JsonWriter& json, const GpuShares& gpu) {
  const auto part = [&](const char* ns, const char* pct, std::int64_t value) {
    json.key(ns).value(value).key(pct).value(gpu.pct(value));
  };
  part("compute_ns", "compute_pct", gpu.compute_ns);
  json.key("hidden_communication_ns").value(gpu.hidden_communication_ns);
  part("exposed_communication_ns", "exposed_communication_pct", gpu.communication.ns);
  part("exposed_copy_ns", "exposed_copy_pct", gpu.copy.ns);
  part("idle_ns", "idle_pct", gpu.idle_ns);
  json.key("idle_causes").begin_array();
  for (std::size_t i = 0; i < gpu.idle.size(); ++i) {
    if (gpu.idle[i].ns > 0) write_cause(json, static_cast<analyze::IdleCause>(i), gpu.idle[i]);
  }
  json.end_array();
  write_exposed(json, "most_exposed_communication", gpu.communication);
  write_exposed(json, "most_exposed_copy", gpu.copy);
  json.key("launches").value(gpu.launches).key("launch_period_ns").value(gpu.launch_period_ns);
  json.key("kernel_ns").value(gpu.kernel_ns).key("largest").value(known(gpu.largest));
  json.key("largest_pct").value(gpu.largest_pct);
}

}  // namespace fathom::report
