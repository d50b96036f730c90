#pragma once

#include <cstdint>
#include <string_view>

namespace fathom::trace {

enum class Format : std::uint8_t { chrome_json, profile_json, perfetto, sqlite, pickle, foreign };

struct Sniffed {
  Format format = Format::foreign;
  std::string_view what;      // of a foreign file: "PNG image"
  bool is_recognised = true;  // false where nothing in it tells what it is
};

// What a file is, told by its first bytes (unpacked).
Sniffed sniff(std::string_view head);

}  // namespace fathom::trace
