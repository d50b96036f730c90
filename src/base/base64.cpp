#include "base/base64.h"

#include <cstdint>

namespace fathom::base {

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  const auto byte = [&](std::size_t at) -> std::uint32_t {
    return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0;
  };
  std::size_t to = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 3, to += 4) {
    const std::uint32_t three = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    out[to] = kDigits[three >> 18];
    out[to + 1] = kDigits[three >> 12 & 63];
    if (at + 1 < bytes.size()) out[to + 2] = kDigits[three >> 6 & 63];
    if (at + 2 < bytes.size()) out[to + 3] = kDigits[three & 63];
  }
  return out;
}

}  // namespace fathom::base
