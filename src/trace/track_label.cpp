#include "trace/track_label.h"

#include <fmt/format.h>

#include <string_view>

namespace fathom::trace {
namespace {

// Sources pad their names: "stream 7 ".
std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string id_of(const Track& track) {
  return track.tid_text.empty() ? fmt::format("{}", track.tid) : track.tid_text;
}

std::string stream_label(const Track& track) {
  const std::string gpu = track.device             ? fmt::format("GPU {}", *track.device)
                          : track.pid_text.empty() ? fmt::format("GPU {}", track.pid)
                                                   : track.pid_text;
  const std::string_view name = trimmed(track.thread_name);
  if (track.stream) return fmt::format("{} · stream {}", gpu, *track.stream);
  if (!name.empty()) return fmt::format("{} · {}", gpu, name);
  return fmt::format("{} · {}", gpu,
                     track.tid_text.empty() ? fmt::format("stream {}", track.tid) : track.tid_text);
}

std::string host_label(const Track& track) {
  const std::string id = id_of(track);
  const std::string_view name = trimmed(track.thread_name);
  if (!name.empty() && name.find(id) != std::string_view::npos) return std::string(name);
  if (!name.empty()) return fmt::format("{} · {}", name, id);
  if (!track.tid_text.empty()) return track.tid_text;
  return fmt::format("{} {}", track.kind == TrackKind::async ? "async" : "thread", id);
}

}  // namespace

std::string label_of(const Track& track) {
  std::string label = track.kind == TrackKind::gpu_stream ? stream_label(track) : host_label(track);
  for (char& c : label) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  return label;
}

}  // namespace fathom::trace
