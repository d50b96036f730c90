#include <cstddef>
#include <cstdint>
#include <string_view>

#include "monitor/session_lines.h"

// The file of a session may be damaged in any way; what can be read is read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  fathom::monitor::LineReader reader;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    reader.take(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (reader.record) reader.record->report();
  return 0;
}
