#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// A run file as a reader sees it that knows nothing of how it was written.
struct DecodedSlice {
  std::string name;
  std::int64_t begin_ns = 0;
  std::optional<std::int64_t> end_ns;  // none: begun and never ended
  std::size_t depth = 0;
  std::string begin_annotations;  // the TrackEvent's bytes
  std::string end_annotations;
};

struct DecodedSequence {
  std::uint64_t track = 0;  // where an event names none
  std::int64_t now_ns = 0;
  bool incremental = false;
  std::map<std::uint64_t, std::string> names;
  std::vector<DecodedSlice> slices;
  std::map<std::uint64_t, std::vector<std::size_t>> open;  // by track
};

struct DecodedOperation {
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
};

struct DecodedRun {
  std::map<std::uint32_t, DecodedSequence> sequences;
  std::map<std::uint64_t, std::int64_t> thread_tracks;  // track → tid
  std::map<std::uint64_t, std::string> named_tracks;
  std::map<std::string, DecodedOperation> operations;
  std::string command;
  std::optional<std::uint64_t> dropped_scopes;
  std::size_t packets = 0;
  bool cut = false;  // the last packet is not complete

  std::size_t begun(std::string_view name) const;
  std::vector<DecodedSlice> slices(std::string_view name) const;
};

DecodedRun decode_run(const std::string& path);

}  // namespace fathom
