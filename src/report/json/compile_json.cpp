#include "analyze/compile/compile_tree.h"
#include "base/json_writer.h"
#include "fathom/figures.h"
#include "report/compile_report.h"
#include "report/json/document.h"

namespace fathom::report {
namespace {

using analyze::Compilation;
using analyze::CompileFindings;
using base::JsonWriter;

template <typename Phases>
void write_phases(JsonWriter& json, const Phases& phases) {
  json.key("phases_ms").begin_object();
  for (std::size_t i = 0; i < analyze::kCompilePhases; ++i) {
    json.key(name_of(static_cast<analyze::CompilePhase>(i))).value(ms_of(phases[i]));
  }
  json.end_object();
}

void write_stack(JsonWriter& json, const std::vector<analyze::StackFrame>& stack) {
  json.key("stack").begin_array();
  for (const analyze::StackFrame& frame : stack) {
    json.begin_object().key("file").value(frame.file).key("line").value(frame.line);
    json.key("function").value(frame.function);
    json.key("code").value(known_text(frame.code));
    json.end_object();
  }
  json.end_array();
}

void write_fusion(JsonWriter& json, const std::optional<analyze::Fusion>& fusion) {
  json.key("fusion");
  if (!fusion) {
    json.null();
    return;
  }
  json.begin_object().key("ops_before_fusion").value(fusion->ops_before);
  json.key("ops_after_fusion").value(fusion->ops_after);
  json.key("fusion_ratio").value(fusion->ratio()).end_object();
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

void write_break(JsonWriter& json, const analyze::GraphBreak& found) {
  json.key("reason").value(found.reason);
  json.key("where").value(known_text(found.where));
  write_stack(json, found.stack);
}

void write_breaks(JsonWriter& json, const std::vector<analyze::GraphBreak>& breaks) {
  json.key("graph_breaks").begin_array();
  for (const analyze::GraphBreak& found : breaks) {
    json.begin_object();
    write_break(json, found);
    json.end_object();
  }
  json.end_array();
}

void write_caches(JsonWriter& json, const std::vector<analyze::CacheEvent>& events) {
  json.key("caches").begin_array();
  for (const analyze::CacheEvent& event : events) {
    json.begin_object()
        .key("cache")
        .value(event.cache)
        .key("outcome")
        .value(name_of(event.outcome));
    json.key("key").value(known_text(event.key));
    json.key("saved_ms").value(ms_of(event.saved_ns));
    json.key("reason").value(known_text(event.reason));
    json.end_object();
  }
  json.end_array();
}

void write_compilation(JsonWriter& json, const Compilation& one) {
  json.begin_object().key("id").value(one.id);
  json.key("function").value(known_text(one.function));
  json.key("file").value(known_text(one.file));
  json.key("line").value(one.first_line).key("attempts").value(one.attempts);
  json.key("time_ms").value(ms_of(one.total_ns));
  write_phases(json, one.phases);
  json.key("events_ms").begin_object();
  for (const auto& [name, ns] : one.events) json.key(name).value(ms_of(ns));
  json.end_object();
  json.key("graph_ops").value(one.graph_ops).key("guards").value(one.guards);
  json.key("is_recompile").value(one.is_recompile());
  write_texts(json, "recompile_reasons", one.recompile_reasons);
  write_texts(json, "restart_reasons", one.restart_reasons);
  write_breaks(json, one.breaks);
  json.key("fail_type").value(known_text(one.fail_type));
  json.key("fail_reason").value(known_text(one.fail_reason));
  json.key("fail_where").value(known_text(one.fail_where));
  write_caches(json, one.caches);
  write_fusion(json, one.fusion);
  write_texts(json, "cudagraph_skips", one.cudagraph_skips);
  json.key("cudagraph_recordings").value(one.cudagraph_recordings[0] + one.cudagraph_recordings[1]);
  write_stack(json, one.stack);
  json.end_object();
}

void write_trace(JsonWriter& json, const CompileReport& report) {
  json.key("trace");
  if (report.trace.empty()) {
    json.null();
    return;
  }
  json.begin_object().key("source").value(report.trace);
  using Ns = std::optional<std::int64_t>;
  const bool has_share = report.share.has_value();
  json.key("gpu_ms").value(ms_of(has_share ? Ns(report.share->gpu_ns) : Ns()));
  json.key("compiled_gpu_ms").value(ms_of(has_share ? Ns(report.share->compiled_gpu_ns) : Ns()));
  json.key("regions").begin_array();
  for (const analyze::CompiledRegion& region :
       has_share ? report.share->regions : std::vector<analyze::CompiledRegion>()) {
    json.begin_object().key("id").value(known_text(region.id)).key("calls").value(region.calls);
    json.key("host_ms").value(ms_of(region.host_ns));
    json.key("gpu_ms").value(ms_of(region.gpu_ns)).end_object();
  }
  json.end_array().end_object();
}

// A stack, its compilations by their places in `logs`.
void write_tree(JsonWriter& json, const CompileFindings& found) {
  json.key("tree").begin_array();
  for (const analyze::CompileTreeNode& node : found.tree) {
    json.begin_object().key("parent");
    json.value(node.parent == analyze::kNoTreeNode ? std::nullopt : std::optional(node.parent));
    json.key("depth").value(node.depth).key("time_ms").value(ms_of(node.total_ns));
    write_stack(json, node.frames);
    json.key("compilations").begin_array();
    for (const analyze::CompilationRef& ref : node.compilations) {
      json.begin_object().key("log").value(ref.log).key("index").value(ref.index).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_logs(JsonWriter& json, const CompileFindings& found) {
  json.key("logs").begin_array();
  for (const analyze::CompileLog& log : found.logs) {
    json.begin_object().key("source").value(log.source).key("rank").value(log.rank);
    json.key("records").value(log.records);
    json.key("unreadable").value(log.unreadable_lines + log.unreadable_json);
    json.key("damaged_payloads").value(log.damaged_payloads);
    json.key("compilations").begin_array();
    for (const Compilation& one : log.compilations) write_compilation(json, one);
    json.end_array().end_object();
  }
  json.end_array();
}

void write_summary(JsonWriter& json, const CompileFindings& found) {
  using enum analyze::CacheOutcome;
  json.key("functions").value(found.functions).key("compilations").value(found.compilations);
  json.key("time_ms").value(ms_of(found.total_ns));
  write_phases(json, found.phases);
  json.key("graph_breaks").value(found.breaks).key("recompiles").value(found.recompiles);
  json.key("failures").value(found.failures);
  write_fusion(json, found.fusion);
  json.key("caches").begin_object();
  for (const auto& [name, counts] : found.caches) {
    json.key(name).begin_object().key("hits").value(counts.of(hit));
    json.key("misses").value(counts.of(miss)).key("bypasses").value(counts.of(bypass));
    json.key("saved_ms").value(ms_of(counts.saved_ns)).end_object();
  }
  json.end_object();
}

void write_groups(JsonWriter& json, const CompileFindings& found) {
  json.key("break_reasons").begin_array();
  for (const analyze::BreakGroup& group : found.break_groups) {
    json.begin_object().key("count").value(group.count).key("function").value(group.function);
    write_break(json, group.example);
    json.key("advice").value(known_text(group.advice));
    json.end_object();
  }
  json.end_array().key("failed").begin_array();
  for (const analyze::CompileFailure& group : found.failure_groups) {
    json.begin_object().key("function").value(group.function);
    json.key("where").value(known_text(group.place)).key("count").value(group.count);
    json.key("type").value(group.type).key("reason").value(known_text(group.reason));
    json.key("advice").value(known_text(group.advice)).end_object();
  }
  json.end_array().key("recompiled").begin_array();
  for (const analyze::RecompileGroup& group : found.recompile_groups) {
    json.begin_object().key("function").value(group.function);
    json.key("where").value(known_text(group.place));
    json.key("times").value(group.times).key("time_ms").value(ms_of(group.total_ns));
    write_texts(json, "reasons", group.reasons);
    json.key("advice").value(known_text(group.advice));
    json.end_object();
  }
  json.end_array().key("cudagraph_skips").begin_array();
  for (const analyze::CudagraphSkip& skip : found.cudagraph_skips) {
    json.begin_object().key("reason").value(skip.reason).key("count").value(skip.count);
    json.key("advice").value(known_text(skip.advice));
    json.end_object();
  }
  json.end_array().key("cudagraph_rerecorded").begin_array();
  for (const analyze::CudagraphRerecording& group : found.cudagraph_rerecordings) {
    json.begin_object().key("function").value(group.function);
    json.key("where").value(known_text(group.place)).key("times").value(group.times);
    json.key("advice").value(known_text(group.advice)).end_object();
  }
  json.end_array().key("rank_differences").begin_array();
  for (const analyze::RankDifference& rank : found.differences) {
    json.begin_object().key("rank").value(rank.rank).key("what").value(rank.what);
    json.key("count").value(rank.count);
    json.key("usual").value(rank.usual).end_object();
  }
  json.end_array();
}

}  // namespace

std::string to_json(const CompileReport& report) {
  std::string out;
  JsonWriter json(out);
  begin_document(json, "compile").key("source").value(report.source);
  json.key("story").value(compile_story(report));
  write_summary(json, report.found);
  json.key("speedup").value(report.speedup ? report.speedup->factor() : std::nullopt);
  write_trace(json, report);
  write_groups(json, report.found);
  write_tree(json, report.found);
  write_logs(json, report.found);
  json.end_object();
  return out + "\n";
}

}  // namespace fathom::report
