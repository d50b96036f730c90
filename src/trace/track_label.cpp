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

std::string gpu_label(const Track& track) {
  if (track.device) return fmt::format("GPU {}", *track.device);
  return track.pid_text.empty() ? fmt::format("GPU {}", track.pid) : track.pid_text;
}

std::string stream_label(const Track& track) {
  if (track.stream) return fmt::format("stream {}", *track.stream);
  const std::string_view name = trimmed(track.thread_name);
  if (!name.empty()) return std::string(name);
  return track.tid_text.empty() ? fmt::format("stream {}", track.tid) : track.tid_text;
}

std::string host_label(const Track& track) {
  const std::string id = id_of(track);
  const std::string_view name = trimmed(track.thread_name);
  if (!name.empty() && name.find(id) != std::string_view::npos) return std::string(name);
  if (!name.empty()) return fmt::format("{} · {}", name, id);
  if (!track.tid_text.empty()) return track.tid_text;
  return fmt::format("{} {}", track.kind == TrackKind::async ? "async" : "thread", id);
}

std::string on_one_line(std::string label) {
  for (char& c : label) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  return label;
}

}  // namespace

std::string label_of(const Track& track) {
  return on_one_line(track.kind == TrackKind::gpu_stream
                         ? fmt::format("{} · {}", gpu_label(track), stream_label(track))
                         : host_label(track));
}

std::string short_label_of(const Track& track) {
  return on_one_line(track.kind == TrackKind::gpu_stream ? stream_label(track) : host_label(track));
}

std::string gpu_label_of(const Track& track) {
  return on_one_line(gpu_label(track));
}

}  // namespace fathom::trace
