#include "trace/trace_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace fathom::trace::testing {
namespace {

std::string known(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "-";
}

std::string place_of(const Trace& trace, TrackId id) {
  const Track& track = trace.tracks[id];
  return fmt::format("{}/{}{}/{}{}", static_cast<int>(track.kind), track.pid, track.pid_text,
                     track.tid, track.tid_text);
}

}  // namespace

std::vector<std::string> lines_of(const Trace& trace) {
  std::vector<std::string> lines;
  for (TrackId id = 0; id < trace.tracks.size(); ++id) {
    const Track& track = trace.tracks[id];
    lines.push_back(fmt::format("{} track process '{}' thread '{}' device {} stream {}",
                                place_of(trace, id), track.process_name, track.thread_name,
                                known(track.device), known(track.stream)));
  }
  for (SpanId id = 0; id < trace.spans.size(); ++id) {
    const Spans& spans = trace.spans;
    const Track& track = trace.tracks[spans.track[id]];
    const std::string parent =
        spans.parent[id] == kNoSpan ? "-" : std::to_string(spans.parent[id] - track.first_span);
    lines.push_back(fmt::format("{} span {:06} [{} +{}] {} '{}' correlation {} in {}",
                                place_of(trace, spans.track[id]), id - track.first_span,
                                spans.start_ns[id], spans.duration_ns[id], name_of(spans.kind[id]),
                                trace.name(id), spans.correlation[id], parent));
  }
  for (const SpanBytes& item : trace.bytes) {
    const TrackId track = trace.spans.track[item.span];
    lines.push_back(fmt::format("{} bytes of {:06}: {}", place_of(trace, track),
                                item.span - trace.tracks[track].first_span, item.bytes));
  }
  for (const Instant& item : trace.instants) {
    lines.push_back(fmt::format("{} instant {} '{}'", place_of(trace, item.track), item.time_ns,
                                trace.names.view(item.name)));
  }
  for (const Counter& item : trace.counters) {  // of a process, whichever its first track is
    const Track& track = trace.tracks[item.track];
    for (std::size_t i = 0; i < item.time_ns.size(); ++i) {
      lines.push_back(fmt::format("{}{} counter '{}' {} = {}", track.pid, track.pid_text,
                                  trace.names.view(item.name), item.time_ns[i], item.value[i]));
    }
  }
  for (const MemoryEvent& item : trace.memory) {
    lines.push_back(
        fmt::format("{} memory {} {} at {}{} of {} {} on {} {} by {}", place_of(trace, item.track),
                    item.time_ns, item.bytes, item.is_handle ? "handle " : "",
                    item.address ? std::to_string(*item.address) : "-", known(item.total_allocated),
                    known(item.total_reserved), static_cast<int>(item.device), item.device_index,
                    trace.names.view(item.site)));
  }
  for (const FlowPoint& item : trace.flows) {
    lines.push_back(fmt::format("{} flow {} {} '{}' {}", place_of(trace, item.track), item.id,
                                item.time_ns, trace.names.view(item.category),
                                static_cast<int>(item.phase)));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string difference(const Trace& expected, const Trace& actual) {
  const std::vector<std::string> before = lines_of(expected);
  const std::vector<std::string> after = lines_of(actual);
  std::string text;
  const auto list = [&](std::string_view label, const auto& from, const auto& other) {
    std::vector<std::string> lines;
    std::set_difference(from.begin(), from.end(), other.begin(), other.end(),
                        std::back_inserter(lines));
    for (std::size_t i = 0; i < lines.size() && i < 8; ++i)
      text += fmt::format("{} {}\n", label, lines[i]);
  };
  list("lost", before, after);
  list("new", after, before);
  return text;
}

TemporaryFile::TemporaryFile(const std::string& name) {
  static int count = 0;
  path_ = fmt::format("{}fathom-{}-{}-{}", ::testing::TempDir(), ::getpid(), ++count, name);
}

TemporaryFile::~TemporaryFile() {
  std::remove(path_.c_str());
}

std::string TemporaryFile::bytes() const {
  std::ifstream file(path_, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace fathom::trace::testing
