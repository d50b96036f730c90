#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "monitor/config_text.h"

// A settings file says what it means or is refused in words; nothing else comes of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    fathom::monitor::parse_config(std::string(reinterpret_cast<const char*>(data), size),
                                  "fathom.yaml");
  } catch (const std::runtime_error&) {
  }
  return 0;
}
