#include "analyze/compile/compile_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyze/compile/fusion.h"
#include "analyze/compile/graph_break.h"
#include "analyze/compile/json_members.h"
#include "analyze/compile/log_records.h"
#include "analyze/ranks/rank_name.h"
#include "base/error.h"
#include "trace/read/input.h"
#include "trace/read/number.h"

namespace fathom::analyze {
namespace {

// A list in JSON; where there is one reason only, newer versions log it as it is.
std::vector<std::string> reasons_of(const std::string& payload) {
  if (payload.starts_with('[')) return texts_of(payload);
  if (payload.empty()) return {};
  return {text_of(payload)};
}

class LogReader {
 public:
  explicit LogReader(const std::string& source) { log_.source = source; }

  void read(const LogRecord& record) {
    ++log_.records;
    if (is_damaged(record)) ++log_.damaged_payloads;
    if (says_nothing(record)) return;
    const auto envelope = members_of(record.json);
    if (!envelope) {
      ++log_.unreadable_json;
      return;
    }
    take_rank(*envelope);
    for (const auto& [key, value] : *envelope) {
      if (key == "str") take_file_name(value);
      if (key == "chromium_event") take_event(*envelope, record);
      if (key == "dynamo_start") take_start(*envelope, value);
      if (key == "compilation_metrics") take_metrics(*envelope, value);
      if (key == "artifact") take_artifact(*envelope, value, record);
      if (key == "inductor_post_grad_graph") take_graph(*envelope, key, record);
      if (key == "inductor_output_code") take_code(*envelope, record);
    }
  }

  CompileLog finish() {
    if (!log_.rank) log_.rank = rank_in_name(log_.source);
    for (std::size_t i = 0; i < log_.compilations.size(); ++i) complete(i);
    infer_breaks();
    std::erase_if(log_.compilations, is_nothing);
    return std::move(log_);
  }

 private:
  // Events of one name that are open; those within another are in its time already.
  struct OpenEvents {
    std::uint32_t depth = 0;
    std::int64_t began_ns = 0;
    std::size_t compilation = 0;
  };
  struct Frame {
    std::size_t compilation = 0;  // the newest of this id
    bool is_over = false;         // its metrics were logged: another may begin
    std::map<std::string, OpenEvents> open;
  };
  // Graphs, or pieces of code, and the operations in them.
  struct Operations {
    std::uint64_t texts = 0, operations = 0;
  };
  // What a compilation's figures are made of at the end.
  struct Parts {
    std::optional<std::int64_t> total, backend, inductor;
    std::map<std::string, std::int64_t> events;
    std::map<std::string_view, Operations>
        graphs;  // by the record that logged them: some log twice
    Operations code;
    bool has_error = false;
    std::string error;  // the last line of its traceback
  };

  // Events alone are no compilation: an autotuner or a cache may log some before there is one.
  static bool is_nothing(const Compilation& one) {
    return one.function.empty() && one.stack.empty() && !one.total_ns && !one.fusion &&
           one.breaks.empty() && one.caches.empty() && !one.has_failed();
  }

  void take_rank(const Members& envelope) {
    if (const auto rank = whole_of(member(envelope, "rank"))) log_.rank = *rank;
  }

  void take_file_name(std::string_view pair) {
    std::vector<std::string_view> parts;
    for_each_element(pair, [&](std::string_view value) { parts.push_back(value); });
    if (parts.size() != 2) return;
    if (const auto id = whole_of(parts[1])) file_names_[*id] = text_of(parts[0]);
  }

  static std::string id_of(const Members& envelope) {
    const std::string_view frame = member(envelope, "frame_id");
    const std::string_view compile = member(envelope, "frame_compile_id");
    if (frame.empty() || compile.empty()) return {};
    const std::string_view autograd = member(envelope, "compiled_autograd_id");
    return autograd.empty() ? fmt::format("{}/{}", frame, compile)
                            : fmt::format("!{}/{}/{}", autograd, frame, compile);
  }

  // The compilation that a record is about; a new one where it begins one, or is of a new id.
  Frame& frame(const std::string& id, bool begins) {
    const auto [at, is_new] = frames_.try_emplace(id);
    if (is_new || (begins && at->second.is_over)) {
      at->second.compilation = log_.compilations.size();
      at->second.is_over = false;
      log_.compilations.emplace_back().id = id;
      parts_.emplace_back();
    }
    return at->second;
  }

  Compilation& compilation(const Members& envelope, bool begins = false) {
    Compilation& found = log_.compilations[frame(id_of(envelope), begins).compilation];
    const auto attempt = whole_of(member(envelope, "attempt"));
    if (attempt && *attempt >= 0 && *attempt < 1000) {
      found.attempts = std::max(found.attempts, static_cast<std::uint32_t>(*attempt + 1));
    }
    return found;
  }

  void take_start(const Members& envelope, std::string_view start) {
    Compilation& found = compilation(envelope, true);
    const auto members = members_of(start);
    if (!members || !found.stack.empty()) return;
    for_each_element(member(*members, "stack"), [&](std::string_view value) {
      const auto frame = members_of(value);
      if (!frame) return;
      const auto file = file_names_.find(whole_of(member(*frame, "filename")).value_or(-1));
      found.stack.push_back({.file = file == file_names_.end() ? "" : file->second,
                             .line = whole_of(member(*frame, "line")).value_or(0),
                             .function = text_of(member(*frame, "name")),
                             .code = text_of(member(*frame, "loc"))});
    });
  }

  void take_event(const Members& envelope, const LogRecord& record) {
    const std::string payload = payload_text(record);
    const auto event = members_of(payload);
    if (!event) {
      ++log_.unreadable_json;
      return;
    }
    const auto args = members_of(member(*event, "args"));
    std::string id = id_of(envelope);
    if (id.empty() && args) id = text_of(member(*args, "compile_id"));
    if (id == "None") id.clear();  // of Python: it belongs to no compilation
    const auto time_ns = trace::parse_time_ns(member(*event, "ts"));
    if (id.empty() || !time_ns) return;
    const std::string name = text_of(member(*event, "name"));
    const std::string_view phase = member(*event, "ph");
    const bool begins = name == "dynamo" || name == "entire_frame_compile";
    Frame& at = frame(id, phase == "\"B\"" && begins);
    if (name == "CUDAGraphNode.record" && phase == "\"B\"") {
      const bool is_backward = args && member(*args, "is_backward") == "true";
      ++log_.compilations[at.compilation].cudagraph_recordings[is_backward ? 1 : 0];
    }
    OpenEvents& open = at.open[name];
    if (phase == "\"B\"" && open.depth++ == 0) {
      open.began_ns = *time_ns;
      open.compilation = at.compilation;
    } else if (phase == "\"E\"" && open.depth > 0 && --open.depth == 0) {
      parts_[open.compilation].events[name] += std::max<std::int64_t>(*time_ns - open.began_ns, 0);
    }
  }

  void take_metrics(const Members& envelope, std::string_view object) {
    const auto metrics = members_of(object);
    if (!metrics) {
      ++log_.unreadable_json;
      return;
    }
    Compilation& found = compilation(envelope);
    Frame& at = frame(id_of(envelope), false);
    Parts& parts = parts_[at.compilation];
    // Forward and backward of one frame are logged one after the other.
    const auto add = [](std::optional<std::int64_t>& to, std::optional<std::int64_t> more) {
      if (more) to = to.value_or(0) + *more;
    };
    add(parts.total, time_of(*metrics, {"dynamo_cumulative_compile_time_us",
                                        "entire_frame_compile_time_s", "duration_us"}));
    add(parts.backend,
        time_of(*metrics, {"backend_compile_time_s", "aot_autograd_cumulative_compile_time_us"}));
    add(parts.inductor,
        time_of(*metrics, {"inductor_cumulative_compile_time_us", "inductor_compile_time_s"}));
    at.is_over = true;
    logs_breaks_ = logs_breaks_ || !member(*metrics, "dynamo_cumulative_compile_time_us").empty();
    const auto take_text = [&](std::string& to, std::string_view field) {
      if (const std::string_view value = member(*metrics, field); !value.empty())
        to = text_of(value);
    };
    take_text(found.function, "co_name");
    take_text(found.file, "co_filename");
    take_text(found.fail_type, "fail_type");
    take_text(found.fail_reason, "fail_reason");
    const auto take_number = [&](std::optional<std::int64_t>& to, std::string_view field) {
      if (const auto number = whole_of(member(*metrics, field))) to = number;
    };
    take_number(found.first_line, "co_firstlineno");
    take_number(found.graph_ops, "graph_op_count");
    take_number(found.guards, "guard_count");
    take_number(found.earlier_versions, "cache_size");
    if (const auto line = whole_of(member(*metrics, "fail_user_frame_lineno"))) {
      found.fail_where = short_place(text_of(member(*metrics, "fail_user_frame_filename")), *line);
    }
    for (std::string& reason : texts_of(member(*metrics, "restart_reasons"))) {
      found.restart_reasons.push_back(std::move(reason));
    }
    if (const auto reason = member(*metrics, "recompile_reason");
        !reason.empty() && found.recompile_reasons.empty()) {
      found.recompile_reasons.push_back(text_of(reason));
    }
    if (const auto reason = member(*metrics, "cudagraph_skip_reason"); !reason.empty()) {
      found.cudagraph_skips.push_back(text_of(reason));
    }
  }

  void take_artifact(const Members& envelope, std::string_view object, const LogRecord& record) {
    const auto artifact = members_of(object);
    if (!artifact) return;
    const std::string name = text_of(member(*artifact, "name"));
    if (name == "dynamo_graph_break_reason") {
      compilation(envelope).breaks.push_back(parse_graph_break(payload_words(record)));
    } else if (name == "recompile_reasons") {
      compilation(envelope, true).recompile_reasons = reasons_of(payload_text(record));
    } else if (name == "after_post_grad_graph") {
      take_graph(envelope, "after_post_grad_graph", record);
    } else if (name == "inductor_post_grad_graph") {
      take_graph(envelope, "inductor_post_grad_graph", record);
    } else if (name == "dynamo_error") {
      Parts& parts = parts_of(envelope);
      parts.has_error = true;
      parts.error = exception_of(payload_words(record));
    } else {
      take_cache_event(envelope, name, record);
    }
  }

  void take_cache_event(const Members& envelope, const std::string& name, const LogRecord& record) {
    constexpr std::string_view kCache = "_cache_";
    const std::size_t at = name.find(kCache);
    if (at == std::string::npos) return;
    const std::string_view outcome = std::string_view(name).substr(at + kCache.size());
    CacheEvent event;
    event.cache = name.substr(0, at);
    if (outcome == "hit") {
      event.outcome = CacheOutcome::hit;
    } else if (outcome == "bypass") {
      event.outcome = CacheOutcome::bypass;
    } else if (outcome != "miss") {
      return;
    }
    const std::string payload = payload_text(record);
    if (const auto members = members_of(payload)) {
      event.key = text_of(member(*members, "key"));
      event.reason = text_of(member(*members, "cache_bypass_reason"));
      if (const auto saved = member(*members, "time_saved_ms"); !saved.empty()) {
        event.saved_ns = trace::parse_scaled(saved, 6);
      }
    }
    compilation(envelope).caches.push_back(std::move(event));
  }

  void take_graph(const Members& envelope, std::string_view kind, const LogRecord& record) {
    Operations& graphs = parts_of(envelope).graphs[kind];
    ++graphs.texts;
    graphs.operations += graph_operations(payload_text(record));
  }

  void take_code(const Members& envelope, const LogRecord& record) {
    Operations& code = parts_of(envelope).code;
    ++code.texts;
    code.operations += generated_calls(payload_text(record));
  }

  Parts& parts_of(const Members& envelope) {
    compilation(envelope);
    return parts_[frame(id_of(envelope), false).compilation];
  }

  // Of graphs whose code is there too: a hit in a cache may log code without its graph, and then
  // what is before and what is after would be of different graphs.
  static std::optional<Fusion> fusion_of(const Parts& parts) {
    for (const auto& [kind, graphs] : parts.graphs) {
      if (graphs.texts != parts.code.texts) continue;
      if (graphs.operations == 0 || parts.code.operations == 0) continue;
      return Fusion{.ops_before = graphs.operations, .ops_after = parts.code.operations};
    }
    return {};
  }

  // Where the metrics have no times, the events have.
  void complete(std::size_t index) {
    Compilation& found = log_.compilations[index];
    Parts& parts = parts_[index];
    const auto event = [&](const char* name) -> std::optional<std::int64_t> {
      const auto at = parts.events.find(name);
      return at == parts.events.end() ? std::nullopt : std::optional(at->second);
    };
    if (!parts.total) parts.total = event("dynamo");
    if (!parts.total) parts.total = event("entire_frame_compile");
    if (!parts.backend) parts.backend = event("backend_compile");
    if (!parts.inductor) parts.inductor = event("inductor_compile");
    found.events.assign(parts.events.begin(), parts.events.end());
    std::ranges::stable_sort(found.events, std::ranges::greater{},
                             &std::pair<std::string, std::int64_t>::second);
    found.total_ns = parts.total;
    found.fusion = fusion_of(parts);
    if (parts.has_error && found.fail_type.empty()) {
      found.fail_type = "error";
      found.fail_reason = parts.error;
    }
    if (!parts.total || !parts.backend) return;
    const std::int64_t backend = std::min(*parts.backend, *parts.total);
    const std::int64_t inductor = std::min(parts.inductor.value_or(0), backend);
    found.phases = {*parts.total - backend, backend - inductor, std::nullopt};
    if (parts.inductor) found.phases[2] = inductor;
  }

  // Before October 2024 breaks were not logged as such: a frame was begun anew for a reason, and
  // what came after it became a frame of its own, whose name says where it goes on.
  void infer_breaks() {
    const auto has_breaks = [](const Compilation& one) { return !one.breaks.empty(); };
    if (logs_breaks_ || std::ranges::any_of(log_.compilations, has_breaks)) return;
    for (std::size_t i = 0; i < log_.compilations.size(); ++i) {
      Compilation& one = log_.compilations[i];
      for (const std::string& reason : one.restart_reasons) {
        GraphBreak found{.reason = reason, .hint = "", .where = "", .stack = {}};
        if (i + 1 < log_.compilations.size() && log_.compilations[i + 1].is_resumed()) {
          found.where = "before " + short_place(log_.compilations[i + 1].file,
                                                log_.compilations[i + 1].first_line);
        }
        one.breaks.push_back(std::move(found));
      }
    }
  }

  CompileLog log_;
  bool logs_breaks_ = false;  // metrics of this kind are younger than the artifact for breaks
  std::vector<Parts> parts_;  // of each compilation
  std::map<std::string, Frame> frames_;
  std::unordered_map<std::int64_t, std::string> file_names_;
};

}  // namespace

std::string_view name_of(CompilePhase phase) {
  constexpr std::array<std::string_view, kCompilePhases> kPhaseNames = {"dynamo", "aot_autograd",
                                                                        "inductor"};
  return kPhaseNames[static_cast<std::size_t>(phase)];
}

std::string_view name_of(CacheOutcome outcome) {
  constexpr std::array<std::string_view, 3> kOutcomeNames = {"hit", "miss", "bypass"};
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

std::string_view original_name(std::string_view function) {
  constexpr std::string_view kResumed = "torch_dynamo_resume_in_";
  if (!function.starts_with(kResumed)) return function;
  function.remove_prefix(kResumed.size());
  return function.substr(0, function.rfind("_at_"));
}

std::string short_place(std::string_view file, std::optional<std::int64_t> line) {
  const std::size_t slash = file.rfind('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return line ? fmt::format("{}:{}", file, *line) : std::string(file);
}

CompileLog read_compile_log(std::string_view text, const std::string& source) {
  LogReader reader(source);
  const std::uint64_t unreadable =
      for_each_record(text, [&](const LogRecord& record) { reader.read(record); });
  CompileLog log = reader.finish();
  log.unreadable_lines = unreadable;
  return log;
}

CompileLog read_compile_log(const trace::Input& input) {
  if (!is_compile_log(input.head())) {
    throw base::Error(input.name(), "not a log of torch.compile",
                      "Record one: TORCH_TRACE=logs python train.py");
  }
  return read_compile_log(input.view(), input.name());
}

}  // namespace fathom::analyze
