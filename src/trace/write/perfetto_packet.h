#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/output.h"
#include "trace/write/args.h"

namespace fathom::trace {

// Texts of one interning table and the ids they got; what is new waits in `added` until a packet
// carries it.
class InternedTexts {
 public:
  explicit InternedTexts(std::uint32_t field) : field_(field) {}

  std::uint64_t id(std::string_view text);
  // Appends entries that no packet has carried yet to an InternedData message.
  void flush_to(std::string& interned_data);

 private:
  std::uint32_t field_;
  std::unordered_map<std::string, std::uint64_t> ids_;
  std::string added_;
};

// One TrackEvent packet: fill `event`, then `write`.
class EventWriter {
 public:
  EventWriter(base::Output& out, std::int64_t shift_ns);

  // Starts an event on a track: a TrackEvent::Type, or 0 for one that a legacy phase describes.
  void begin(std::uint32_t type, std::uint64_t track_uuid);
  void name(std::string_view name);
  void category(std::string_view category);
  void annotate(std::string_view key, std::int64_t value);
  void annotate_unsigned(std::string_view key, std::uint64_t value);
  // As the type its JSON text is; text that is not a plain value stays JSON.
  void annotate_json(std::string_view key, std::string_view json);
  // As JSON text even where it is a number: one that must not be taken for what its key says.
  void annotate_as_text(std::string_view key, std::string_view json);
  void counter_value(double value);
  void flow(char phase, std::uint64_t id);
  void write(std::int64_t time_ns);

 private:
  base::Output& out_;
  std::int64_t shift_ns_;
  std::string event_;
  std::string packet_;
  InternedTexts names_;
  InternedTexts categories_;
  InternedTexts keys_;
};

// Appends a packet to the output.
void write_packet(base::Output& out, std::string_view packet);

inline constexpr std::uint32_t kWriterSequence = 1;

}  // namespace fathom::trace
