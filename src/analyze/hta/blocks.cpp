#include "analyze/hta/blocks.h"

#include <charconv>

namespace fathom::analyze {

std::optional<std::int64_t> blocks_of(const std::string& args) {
  std::size_t at = args.find("\"grid\"");
  if (at != std::string::npos) at = args.find('[', at);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t end = args.find(']', at);
  if (end == std::string::npos) return std::nullopt;
  std::int64_t blocks = 1;
  while (at < end) {
    at = args.find_first_of("0123456789]", at);
    if (at >= end) break;
    std::int64_t size = 0;
    const auto parsed = std::from_chars(args.data() + at, args.data() + end, size);
    if (size <= 0 || size > INT32_MAX || blocks > INT32_MAX) return std::nullopt;
    blocks *= size;
    at = static_cast<std::size_t>(parsed.ptr - args.data());
  }
  return blocks;
}

}  // namespace fathom::analyze
