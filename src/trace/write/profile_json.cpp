#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/figure_fields.h"
#include "base/json_scan.h"
#include "base/json_writer.h"
#include "trace/scope_parts.h"
#include "trace/write/args.h"
#include "trace/write/decimal.h"
#include "trace/write/formats.h"

namespace fathom::trace {
namespace {

// Which spans are a profile's entries: scopes; where there are none, what the CPU did; where there
// is nothing of that either, all.
std::vector<bool> choose_entries(const Trace& trace) {
  const auto is_scope = [](SpanKind kind) { return kind == SpanKind::scope; };
  const auto is_cpu = [](SpanKind kind) {
    return !is_gpu_work(kind) && kind != SpanKind::gpu_annotation && kind != SpanKind::overhead &&
           kind != SpanKind::unfinished;
  };
  const std::vector<SpanKind>& kinds = trace.spans.kind;
  std::vector<bool> chosen(kinds.size(), true);
  for (bool (*wanted)(SpanKind) : {+is_scope, +is_cpu}) {
    if (std::none_of(kinds.begin(), kinds.end(), wanted)) continue;
    for (std::size_t i = 0; i < kinds.size(); ++i) chosen[i] = wanted(kinds[i]);
    break;
  }
  return chosen;
}

// By linear interpolation between the two nearest of the sorted durations.
double quantile(const std::vector<std::int64_t>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const auto low = static_cast<double>(sorted[below]);
  return low + (at - std::floor(at)) * (static_cast<double>(sorted[above]) - low);
}

NamedFigures summarise(std::string operation, std::vector<std::int64_t>& durations) {
  std::sort(durations.begin(), durations.end());
  NamedFigures figures;
  figures.operation = std::move(operation);
  figures.calls = durations.size();
  double total = 0;
  for (const std::int64_t duration : durations) total += static_cast<double>(duration);
  const auto count = static_cast<double>(durations.size());
  double squares = 0;
  for (const std::int64_t duration : durations) {
    const double off = static_cast<double>(duration) - total / count;
    squares += off * off;
  }
  figures.total_ns = total;
  figures.min_ns = static_cast<double>(durations.front());
  figures.max_ns = static_cast<double>(durations.back());
  figures.std_dev_ns = std::sqrt(squares / count);
  figures.p50_ns = quantile(durations, 0.50);
  figures.p95_ns = quantile(durations, 0.95);
  figures.p99_ns = quantile(durations, 0.99);
  return figures;
}

// The parts of all scopes of one name together.
struct PartSums {
  std::uint64_t scopes = 0;
  TimeParts parts;
};

std::map<std::string_view, PartSums> part_sums(const Trace& trace,
                                               const std::vector<ScopeParts>& parts) {
  std::map<std::string_view, PartSums> sums;
  for (const ScopeParts& scope : parts) {
    PartSums& sum = sums[trace.name(scope.span)];
    ++sum.scopes;
    sum.parts += scope.parts;
  }
  return sums;
}

class ProfileWriter {
 public:
  ProfileWriter(const Trace& trace, base::Output& out)
      : trace_(trace), out_(out), json_(out.buffer()), chosen_(choose_entries(trace)) {
    if (!has_gpu_activity(trace)) return;
    const bool has_scopes =
        std::ranges::find(trace.spans.kind, SpanKind::scope) != trace.spans.kind.end();
    parts_ = has_scopes ? scope_parts(trace) : launched_parts(trace, chosen_);
  }

  // How many spans are its entries.
  std::size_t write() {
    json_.begin_object().key("fathom").value(FATHOM_VERSION).key("run");
    write_run();
    json_.key("entries").begin_array();
    number_entries();
    for (SpanId id = 0; id < trace_.spans.size(); ++id) {
      if (chosen_[id]) write_entry(id);
    }
    json_.end_array().key("summary").begin_object();
    write_summary();
    json_.end_object().end_object();
    out_.buffer() += '\n';
    return static_cast<std::size_t>(std::count(chosen_.begin(), chosen_.end(), true));
  }

 private:
  void write_run();
  void number_entries();
  void write_entry(SpanId id);
  void write_time(std::string_view key, std::int64_t ns, int places);
  void write_call_figures(SpanId id);
  void write_other_fields(SpanId id);
  void write_summary();
  void write_figures(const NamedFigures& figures);

  const Trace& trace_;
  base::Output& out_;
  base::JsonWriter json_;
  std::vector<bool> chosen_;
  std::vector<SpanId> entry_numbers_;  // by span; kNoSpan where it is not an entry
  std::vector<SpanId> entry_around_;   // by span: the innermost entry that it lies in
  std::vector<ScopeParts> parts_;      // of entries, by span; empty where the GPU is not known
};

void ProfileWriter::write_run() {
  const RunInfo& run = trace_.run;
  json_.begin_object();
  if (!run.command.empty()) json_.key("command").value(run.command);
  if (!run.title.empty()) json_.key("title").value(run.title);
  if (run.rank) json_.key("rank").value(*run.rank);
  if (run.world_size) json_.key("world_size").value(*run.world_size);
  if (run.dropped_spans) json_.key("dropped_entries").value(*run.dropped_spans);
  json_.end_object();
}

void ProfileWriter::number_entries() {
  entry_numbers_.assign(chosen_.size(), kNoSpan);
  SpanId next = 0;
  for (std::size_t id = 0; id < chosen_.size(); ++id) {
    if (chosen_[id]) entry_numbers_[id] = next++;
  }
  entry_around_.assign(chosen_.size(), kNoSpan);
  for (SpanId id = 0; id < chosen_.size(); ++id) {  // parents stand before their children
    const SpanId parent = trace_.spans.parent[id];
    if (parent == kNoSpan) continue;
    entry_around_[id] = chosen_[parent] ? parent : entry_around_[parent];
  }
}

void ProfileWriter::write_time(std::string_view key, std::int64_t ns, int places) {
  std::string text;
  append_scaled(text, ns, places);
  json_.key(key).raw(text);
}

void ProfileWriter::write_entry(SpanId id) {
  out_.buffer() += '\n';
  const Spans& spans = trace_.spans;
  const Track& track = trace_.tracks[spans.track[id]];
  const std::int64_t base = trace_.run.base_time_ns.value_or(0);
  json_.begin_object().key("operation").value(trace_.name(id));
  write_time("start_time", spans.start_ns[id] + base, 9);
  write_time("end_time", spans.end_ns(id) + base, 9);
  write_call_figures(id);
  if (track.tid_text.empty()) {
    json_.key("thread").value(track.tid);
  } else {
    json_.key("thread").value(track.tid_text);
  }
  const SpanId parent = entry_around_[id];
  json_.key("parent");
  parent == kNoSpan ? json_.null() : json_.value(entry_numbers_[parent]);
  write_other_fields(id);
  json_.end_object();
  out_.flush_if_full();
}

void ProfileWriter::write_call_figures(SpanId id) {
  CallFigures figures;
  figures.duration_ns = trace_.spans.duration_ns[id];
  const auto found =
      std::lower_bound(parts_.begin(), parts_.end(), id,
                       [](const ScopeParts& each, SpanId span) { return each.span < span; });
  if (found != parts_.end() && found->span == id) figures.set_parts(found->parts);
  base::write_figures(json_, figures, base::Unknown::is_left_out);
}

// What was read from a profile is a field again; arguments of other formats are attributes.
void ProfileWriter::write_other_fields(SpanId id) {
  const Args args = split_args(trace_.args(id));
  if (trace_.run.format == "profile JSON") {
    static constexpr std::array kWritten = {"operation",   "start_time", "end_time",
                                            "duration_ms", "thread",     "parent"};
    for (const auto& [key, value] : args) {
      if (std::find(kWritten.begin(), kWritten.end(), key) == kWritten.end()) {
        json_.key(key).raw(value);
      }
    }
    return;
  }
  json_.key("device").value(is_gpu_work(trace_.spans.kind[id]) ? "gpu" : "cpu");
  if (args.empty()) return;
  json_.key("attributes").begin_object();
  for (const auto& [key, value] : args) json_.key(key).raw(value);
  json_.end_object();
}

void ProfileWriter::write_summary() {
  if (!trace_.operations.empty()) {
    const std::map<std::string_view, PartSums> sums = part_sums(trace_, parts_);
    for (NamedFigures figures : trace_.operations) {
      const auto known = sums.find(figures.operation);
      if (known != sums.end() && known->second.scopes == figures.calls) {
        figures.set_parts(known->second.parts);
      }
      write_figures(figures);
    }
    return;
  }
  std::vector<std::vector<std::int64_t>> durations(trace_.names.size());
  for (SpanId id = 0; id < trace_.spans.size(); ++id) {
    if (chosen_[id]) durations[trace_.spans.name[id]].push_back(trace_.spans.duration_ns[id]);
  }
  const std::map<std::string_view, PartSums> sums = part_sums(trace_, parts_);
  for (NameId name = 0; name < durations.size(); ++name) {
    if (durations[name].empty()) continue;
    NamedFigures figures = summarise(std::string(trace_.names.view(name)), durations[name]);
    if (const auto known = sums.find(figures.operation); known != sums.end())
      figures.set_parts(known->second.parts);
    write_figures(figures);
    durations[name] = {};
  }
}

void ProfileWriter::write_figures(const NamedFigures& figures) {
  json_.key(figures.operation).begin_object();
  base::write_figures(json_, figures, base::Unknown::is_left_out);
  json_.end_object();
  out_.flush_if_full();
}

}  // namespace

std::size_t write_profile_json(const Trace& trace, base::Output& out) {
  return ProfileWriter(trace, out).write();
}

}  // namespace fathom::trace
