#include "compare/call_sites.h"

#include <algorithm>
#include <future>
#include <unordered_map>

#include "analyze/hta/gpu_work.h"
#include "analyze/operations/operations.h"
#include "analyze/operations/steps.h"
#include "base/pair_index.h"
#include "trace/framework_names.h"

namespace fathom::compare {
namespace {

using trace::SpanId;
using trace::SpanKind;

using OperationId = std::uint32_t;
using PathId = std::uint32_t;

constexpr PathId kOutermost = 0;
constexpr PathId kUnknownPath = 1;
constexpr std::size_t kMostPaths = 1U << 16;
constexpr std::uint32_t kDeepestPath = 32;  // the rest of a recursion tells nobody more
constexpr OperationId kNoOperation = UINT32_MAX;

// Functions of Python are many, and what they do shows in the operations they call.
bool takes_part(SpanKind kind) {
  return kind != SpanKind::unfinished && kind != SpanKind::gpu_annotation &&
         kind != SpanKind::python && kind != SpanKind::overhead;
}

// Which operation a span belongs to. Spans of one name and kind are asked for many times, so that
// each name and kind has its place in a table.
class Operations {
 public:
  explicit Operations(const trace::Trace& trace)
      : trace_(trace), by_id_(trace.names.size() * trace::kSpanKindNames.size(), kNoOperation) {}

  OperationId of(SpanId id) {
    const SpanKind kind = trace_.spans.kind[id];
    OperationId& at = by_id_[trace_.spans.name[id] * trace::kSpanKindNames.size() +
                             static_cast<std::size_t>(kind)];
    if (at == kNoOperation) at = find_or_add(trace_.name(id), kind);
    return at;
  }

  std::vector<SitesOfOperation> found;

 private:
  OperationId find_or_add(std::string_view written, SpanKind kind) {
    const std::string name = comparable_name(written, kind);
    const auto [at, is_new] =
        by_name_.try_emplace(operation_key(name, kind), static_cast<OperationId>(found.size()));
    if (is_new) found.push_back({name, std::string(written), kind, {}, {}});
    return at->second;
  }

  const trace::Trace& trace_;
  std::vector<OperationId> by_id_;  // kNoOperation until asked for
  std::unordered_map<std::string, OperationId> by_name_;
};

// Which step a time lies in. Asked for in order of time, mostly.
class Steps {
 public:
  explicit Steps(const trace::Trace& trace) {
    for (const SpanId id : analyze::step_spans(trace)) {
      times_.push_back({trace.spans.start_ns[id], trace.spans.end_ns(id)});
    }
  }

  std::uint32_t at(std::int64_t time_ns) {
    if (times_.empty()) return kNoStep;
    if (!has(last_, time_ns)) {
      const auto next = std::ranges::upper_bound(times_, time_ns, {}, &Times::begin);
      last_ = next == times_.begin() ? 0 : static_cast<std::size_t>(next - times_.begin()) - 1;
    }
    return has(last_, time_ns) ? static_cast<std::uint32_t>(last_) : kNoStep;
  }

 private:
  struct Times {
    std::int64_t begin;
    std::int64_t end;
  };
  bool has(std::size_t step, std::int64_t time_ns) const {
    return time_ns >= times_[step].begin && time_ns < times_[step].end;
  }

  std::vector<Times> times_;
  std::size_t last_ = 0;
};

// Every chain of operations that calls were made in, as a tree, and the sites at its nodes.
class SiteTree {
 public:
  SiteTree() { paths_ = {{kOutermost, kNoOperation, 0}, {kUnknownPath, kNoOperation, 0}}; }

  PathId path(PathId around, OperationId operation) {
    std::uint32_t& at = paths_of_.at(around, operation);
    if (at != base::PairIndex::kNone) return at;
    const bool is_root = around == kOutermost || around == kUnknownPath;
    if (paths_.size() >= kMostPaths && !is_root) {
      const PathId unknown = path(kUnknownPath, operation);
      return paths_of_.at(around, operation) = unknown;
    }
    at = static_cast<PathId>(paths_.size());
    paths_.push_back({around, operation, paths_[around].depth + 1});
    return at;
  }

  // Where what is called at a path is.
  PathId inside(PathId path) const {
    return paths_[path].depth > kDeepestPath ? paths_[path].around : path;
  }

  void add_call(PathId path, trace::NameId shape, std::int64_t ns, std::int64_t self_ns,
                std::uint32_t step) {
    std::uint32_t& at = sites_of_.at(path, shape);
    if (at == base::PairIndex::kNone) {
      at = static_cast<std::uint32_t>(sites_.size());
      sites_.push_back({path, shape, {}});
    }
    CallSite& site = sites_[at].calls;
    if (site.steps.empty() || site.steps.back().step != step) {
      site.steps.push_back({step, static_cast<std::uint32_t>(site.ns.size())});
    }
    site.ns.push_back(ns);
    site.total_ns += ns;
    site.self_ns += self_ns;
  }

  // The operation directly around most of the time of each operation's calls; empty where most are
  // in none.
  std::vector<std::string> callers(const std::vector<SitesOfOperation>& operations) const {
    std::vector<std::unordered_map<OperationId, std::int64_t>> times(operations.size());
    for (const Site& site : sites_) {
      const Path& path = paths_[site.path];
      times[path.operation][paths_[path.around].operation] += site.calls.self_ns;
    }
    std::vector<std::string> names(operations.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      std::int64_t most = -1;
      for (const auto& [caller, ns] : times[i]) {
        const std::string name = caller == kNoOperation ? "" : operations[caller].name;
        // Ties by name, so that the answer does not depend on the order of a hash table.
        if (ns < most || (ns == most && name >= names[i])) continue;
        most = ns;
        names[i] = name;
      }
    }
    return names;
  }

  // Gives each operation its sites.
  void hand_out(const trace::Trace& trace, std::vector<SitesOfOperation>& operations) {
    const std::vector<CallPath> texts = path_texts(operations);
    for (Site& site : sites_) {
      site.calls.shape = trace.names.view(site.shape);
      site.calls.path = texts[paths_[site.path].around];
      operations[paths_[site.path].operation].sites.push_back(std::move(site.calls));
    }
  }

 private:
  struct Path {
    PathId around;
    OperationId operation;
    std::uint32_t depth;
  };
  struct Site {
    PathId path;
    trace::NameId shape;
    CallSite calls;
  };

  // By path, of those that something was called in.
  std::vector<CallPath> path_texts(const std::vector<SitesOfOperation>& operations) const {
    std::vector<bool> is_caller(paths_.size());
    for (const Path& path : paths_) is_caller[path.around] = true;
    std::vector<CallPath> texts(paths_.size());
    texts[kOutermost] = std::make_shared<const std::string>();
    for (PathId id = kUnknownPath + 1; id < paths_.size(); ++id) {  // outer ones come first
      const CallPath& outer = texts[paths_[id].around];
      if (!is_caller[id] || outer == nullptr) continue;
      std::string text = *outer;
      if (!text.empty()) text += kInside;
      text += operations[paths_[id].operation].name;
      texts[id] = std::make_shared<const std::string>(std::move(text));
    }
    return texts;
  }

  std::vector<Path> paths_;
  std::vector<Site> sites_;
  base::PairIndex paths_of_;  // around, operation → path
  base::PairIndex sites_of_;  // path, shape → site
};

// Steps are all of a run, and what is outside of them is the same program's.
bool is_on_path(SpanKind kind, const SitesOfOperation& operation) {
  return kind == SpanKind::cpu_op || kind == SpanKind::scope ||
         (kind == SpanKind::annotation && operation.name != kStepOperation);
}

// "train.py(12): step" → "train.py: step", for a line above it moves it; and where an object lies
// in memory is another place in every run: "<built-in method mm of type object at 0x7f10>".
std::string without_places(std::string_view name) {
  std::string text(name);
  if (const std::size_t end = text.find("): "); end != std::string::npos) {
    const std::size_t begin = text.rfind('(', end);
    const bool is_line = begin != std::string::npos && begin + 1 < end &&
                         text.find_first_not_of("0123456789", begin + 1) == end;
    if (is_line) text.erase(begin, end + 1 - begin);
  }
  if (const std::size_t at = text.find(" at 0x"); at != std::string::npos) {
    const std::size_t end = text.find_first_not_of("0123456789abcdefABCDEF", at + 6);
    text.erase(at, end == std::string::npos ? end : end - at);
  }
  return text;
}

}  // namespace

std::string comparable_name(std::string_view name, SpanKind kind) {
  if (name.starts_with(trace::kStepName)) return std::string(kStepOperation);
  if (name.starts_with(trace::kDataLoader)) return std::string(trace::kDataLoader);
  if (kind == SpanKind::runtime_call && name.starts_with("hip")) {
    return "cuda" + std::string(name.substr(3));
  }
  if (kind == SpanKind::python) return without_places(name);
  return std::string(name);
}

std::string operation_key(std::string_view name, SpanKind kind) {
  return std::string(name) + static_cast<char>('a' + static_cast<int>(kind));
}

std::vector<SitesOfOperation> call_sites(const trace::Trace& trace) {
  const trace::Spans& spans = trace.spans;
  // Finding the launches takes as long as all the rest.
  std::future<analyze::GpuWork> work =
      std::async(std::launch::async, [&] { return analyze::gpu_work(trace); });
  const std::vector<std::int64_t> self = analyze::self_times(spans);
  Operations operations(trace);
  Steps steps(trace);
  SiteTree tree;
  std::vector<PathId> inside(spans.size(), kOutermost);  // where what a span calls is
  for (SpanId id = 0; id < spans.size(); ++id) {
    const SpanKind kind = spans.kind[id];
    const SpanId parent = spans.parent[id];
    const PathId around = parent == trace::kNoSpan ? kOutermost : inside[parent];
    inside[id] = around;
    if (!takes_part(kind) || trace::is_gpu_work(kind)) continue;
    const OperationId operation = operations.of(id);
    const PathId path = tree.path(around, operation);
    if (is_on_path(kind, operations.found[operation])) inside[id] = tree.inside(path);
    tree.add_call(path, spans.shape[id], spans.duration_ns[id], self[id],
                  steps.at(spans.start_ns[id]));
  }
  const analyze::GpuWork launched = work.get();
  for (const analyze::WorkRow& row : launched.rows) {
    const bool is_known = row.launch != trace::kNoSpan;
    const PathId path =
        tree.path(is_known ? inside[row.launch] : kOutermost, operations.of(row.span));
    tree.add_call(path, spans.shape[row.span], row.duration_ns(), self[row.span],
                  steps.at(is_known ? spans.start_ns[row.launch] : row.start_ns));
  }
  std::vector<std::string> callers = tree.callers(operations.found);
  for (std::size_t i = 0; i < callers.size(); ++i) {
    SitesOfOperation& operation = operations.found[i];
    if (trace::is_gpu_work(operation.kind)) operation.launched_by = std::move(callers[i]);
  }
  tree.hand_out(trace, operations.found);
  return std::move(operations.found);
}

}  // namespace fathom::compare
