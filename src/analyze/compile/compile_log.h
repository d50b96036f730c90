#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::trace {
class Input;
}

// What torch.compile did, as its log tells (TORCH_TRACE). What a version of torch does not log is
// absent.
namespace fathom::analyze {

struct StackFrame {
  std::string file;
  std::int64_t line = 0;
  std::string function;
  std::string code;  // of that line; empty where it is not logged
};

// Parts of the time to compile a frame; together they are all of it.
enum class CompilePhase : std::uint8_t { dynamo, aot_autograd, inductor };
inline constexpr std::size_t kCompilePhases = 3;
std::string_view name_of(CompilePhase phase);

enum class CacheOutcome : std::uint8_t { hit, miss, bypass };
std::string_view name_of(CacheOutcome outcome);

struct CacheEvent {
  std::string cache;  // "fx_graph", "aotautograd"
  CacheOutcome outcome = CacheOutcome::miss;
  std::string key;
  std::optional<std::int64_t> saved_ns;  // by a hit
  std::string reason;                    // of a bypass
};

// Where a frame had to leave the graph, and why.
struct GraphBreak {
  std::string reason;
  std::string hint;               // torch's own, where it has one
  std::string where;              // "at model.py:41", "before model.py:42"; empty: not logged
  std::vector<StackFrame> stack;  // of the user's code, outermost first
};

// Operations of the graph, and the kernels and calls that were made of them.
struct Fusion {
  std::uint64_t ops_before = 0;
  std::uint64_t ops_after = 0;
  std::optional<double> ratio() const {
    if (ops_after == 0) return {};
    return static_cast<double>(ops_before) / static_cast<double>(ops_after);
  }
};

// One frame, compiled once: "[0/1]" is the second time for the first frame.
struct Compilation {
  std::string id;        // "0/1"; with compiled autograd "!0/0/1"; empty of what has none
  std::string function;  // its name; empty where it is not logged
  std::string file;
  std::optional<std::int64_t> first_line;
  std::vector<StackFrame> stack;  // who called it, outermost first
  std::uint32_t attempts = 1;
  std::optional<std::int64_t> total_ns;
  std::array<std::optional<std::int64_t>, kCompilePhases> phases;
  std::vector<std::pair<std::string, std::int64_t>> events;  // time within each, most first
  std::optional<std::int64_t> graph_ops, guards;
  std::optional<std::int64_t> earlier_versions;  // of this frame, compiled before: cache_size
  std::vector<std::string> restart_reasons;
  std::string fail_type, fail_reason, fail_where;
  std::vector<GraphBreak> breaks;
  std::vector<std::string> recompile_reasons;  // the guards that failed, newest version first
  std::vector<CacheEvent> caches;
  std::optional<Fusion> fusion;
  std::vector<std::string> cudagraph_skips;
  std::array<std::uint32_t, 2> cudagraph_recordings = {};  // of the forward, of the backward pass

  // Each pass is recorded once; again for other sizes, or where a tensor of it moved.
  std::uint32_t cudagraph_rerecordings() const {
    std::uint32_t again = 0;
    for (const std::uint32_t times : cudagraph_recordings) again += times > 0 ? times - 1 : 0;
    return again;
  }
  bool is_recompile() const {
    return !recompile_reasons.empty() || earlier_versions.value_or(0) > 0;
  }
  bool has_failed() const { return !fail_type.empty(); }
  // Runs what comes after a graph break of another function, at the line that its name ends with.
  bool is_resumed() const { return function.starts_with("torch_dynamo_resume_in_"); }
};

struct CompileLog {
  std::string source;  // the file
  std::optional<std::int64_t> rank;
  std::vector<Compilation> compilations;  // in the order of the log
  std::uint64_t records = 0;
  std::uint64_t unreadable_lines = 0;
  std::uint64_t unreadable_json = 0;   // records or payloads whose JSON is not right
  std::uint64_t damaged_payloads = 0;  // whose checksum is another
};

// The function as its author knows it: what torch resumes after a graph break is a part of it.
std::string_view original_name(std::string_view function);

// Of a log's text. Throws nothing: what cannot be read is counted. `source` also names the rank
// where the records do not.
CompileLog read_compile_log(std::string_view text, const std::string& source);

// Of a file, packed or not. Throws base::Error for one that is no such log.
CompileLog read_compile_log(const trace::Input& input);

// "model.py:41" of "/home/me/model.py" and 41.
std::string short_place(std::string_view file, std::optional<std::int64_t> line);

}  // namespace fathom::analyze
