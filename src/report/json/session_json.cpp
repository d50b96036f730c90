#include "base/json_writer.h"
#include "report/json/document.h"
#include "report/run_report.h"

namespace fathom::report {
namespace {

void write_time(base::JsonWriter& json, const ProfileSession& session) {
  json.key("total_time_ms").value(session.total_time_ms());
  json.key("gpu_time_ms").value(session.gpu_time_ms());
  json.key("transfer_time_ms").value(session.transfer_time_ms());
  json.key("overhead_ms").value(session.overhead_ms());
  json.key("cpu_time_ms").value(session.cpu_time_ms());
}

void write_memory(base::JsonWriter& json, const ProfileSession& session) {
  json.key("peak_memory_mb").value(session.peak_memory_mb());
  json.key("allocated_memory_mb").value(session.allocated_memory_mb());
  json.key("reserved_memory_mb").value(session.reserved_memory_mb());
  json.key("peak_host_memory_mb").value(session.peak_host_memory_mb());
  json.key("leaks").begin_array();
  for (const MemoryUse& leak : session.leaks) {
    json.begin_object()
        .key("scope")
        .value(known_text(leak.scope))
        .key("call")
        .value(known_text(leak.call));
    json.key("mb").value(leak.allocated_mb()).key("blocks").value(leak.blocks).end_object();
  }
  json.end_array();
  json.key("copies").value(session.copies).key("copied_mb").value(session.copied_mb());
}

void write_kernels(base::JsonWriter& json, const ProfileSession& session) {
  json.key("kernels").begin_array();
  for (const KernelSummary& kernel : session.kernels) {
    json.begin_object().key("name").value(std::string_view(kernel.name));
    json.key("calls").value(kernel.calls).key("total_time_ms").value(kernel.total_time_ms());
    json.key("mean_time_ms").value(kernel.mean_time_ms());
    json.key("min_time_ms").value(kernel.min_time_ms());
    json.key("max_time_ms").value(kernel.max_time_ms());
    json.key("global_size").value(known_text(kernel.global_size));
    json.key("local_size").value(known_text(kernel.local_size)).end_object();
  }
  json.end_array();
}

void write_scopes(base::JsonWriter& json, const ProfileSession& session) {
  json.key("scopes").begin_array();
  for (const auto& [name, scope] : session.scopes) {
    json.begin_object().key("name").value(std::string_view(name));
    json.key("calls").value(scope.calls).key("errors").value(scope.errors);
    json.key("total_time_ms").value(scope.total_time_ms());
    json.key("self_time_ms").value(scope.self_time_ms());
    json.key("mean_time_ms").value(scope.avg_time_ms());
    json.key("min_time_ms").value(scope.min_time_ms());
    json.key("max_time_ms").value(scope.max_time_ms());
    json.key("gpu_time_ms").value(scope.total_gpu_time_ms());
    json.key("transfer_time_ms").value(scope.total_transfer_time_ms());
    json.key("overhead_ms").value(scope.total_overhead_ms());
    json.key("cpu_time_ms").value(scope.total_cpu_time_ms()).end_object();
  }
  json.end_array();
}

void write_findings(base::JsonWriter& json, const ProfileSession& session) {
  json.key("bottlenecks").begin_array();
  for (const Bottleneck& each : session.bottlenecks) {
    json.begin_object().key("operation").value(std::string_view(each.operation));
    json.key("calls").value(each.calls).key("self_time_ms").value(each.self_time_ms());
    json.key("share").value(each.share).key("cumulative_share").value(each.cumulative_share);
    json.key("dominated_by").value(std::string_view(each.dominated_by)).end_object();
  }
  json.end_array().key("builds").begin_array();
  for (const ProgramBuild& build : session.builds) {
    json.begin_object().key("call").value(std::string_view(build.call));
    json.key("start_ms").value(build.start_ms());
    json.key("duration_ms").value(build.duration_ms()).end_object();
  }
  json.end_array().key("total_build_ms").value(session.total_build_ms());
  json.key("failed_builds").begin_array();
  for (const FailedBuild& build : session.failed_builds) {
    json.begin_object().key("call").value(std::string_view(build.call));
    json.key("start_ms").value(build.start_ms()).key("error").value(build.error);
    json.key("log").value(known_text(build.log)).end_object();
  }
  json.end_array().key("failed_calls").begin_array();
  for (const FailedCall& failed : session.failed_calls) {
    json.begin_object().key("call").value(std::string_view(failed.call));
    json.key("error").value(failed.error).key("calls").value(failed.calls).end_object();
  }
  json.end_array();
  json.key("idle_gaps").begin_array();
  for (const IdleGap& gap : session.idle_gaps) {
    json.begin_object().key("start_ms").value(gap.start_ms());
    json.key("duration_ms").value(gap.duration_ms());
    json.key("host").value(known_text(gap.host));
    json.key("host_share").value(gap.host_share).end_object();
  }
  json.end_array().key("recommendations").begin_array();
  for (const std::string& each : session.recommendations) json.value(std::string_view(each));
  json.end_array();
}

// Nested, as flame graph libraries take it. Returns the place of the first frame that is not below
// `at`. Depth is bounded by that of the tree.
std::size_t write_frame(base::JsonWriter& json, const std::vector<FlameFrame>& frames,
                        std::size_t at) {
  const FlameFrame& frame = frames[at];
  json.begin_object().key("name").value(std::string_view(frame.name));
  json.key("calls").value(frame.calls).key("value").value(frame.cpu_time_ms());
  json.key("gpu_time_ms").value(frame.gpu_time_ms()).key("children").begin_array();
  std::size_t next = at + 1;
  while (next < frames.size() && frames[next].parent == at) next = write_frame(json, frames, next);
  json.end_array().end_object();
  return next;
}

void write_flame(base::JsonWriter& json, const ProfileSession& session) {
  json.key("flame_graph_data");
  if (session.flame_graph_data.empty()) {
    json.null();
  } else {
    write_frame(json, session.flame_graph_data, 0);
  }
}

void write_members(base::JsonWriter& json, const ProfileSession& session) {
  json.key("name").value(std::string_view(session.name));
  write_time(json, session);
  write_memory(json, session);
  write_kernels(json, session);
  write_scopes(json, session);
  write_findings(json, session);
  json.key("trace_path").value(std::string_view(session.trace_path));
  write_flame(json, session);
}

}  // namespace

void write_session(base::JsonWriter& json, const ProfileSession& session) {
  write_members(json.begin_object(), session);
  json.end_object();
}

std::string to_json(const ProfileSession& session) {
  std::string out;
  base::JsonWriter json(out);
  write_members(begin_document(json, "session"), session);
  json.end_object();
  return out + "\n";
}

}  // namespace fathom::report
