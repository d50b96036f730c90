// Any bytes: an archive is listed and unpacked as far as it goes, never more of it than it says.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "trace/read/zip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  const ReadAt read = [&](std::uint64_t offset, char* to, std::size_t wanted) -> std::size_t {
    const std::size_t from = std::min<std::uint64_t>(offset, size);
    const std::size_t got = std::min(wanted, size - from);
    if (got > 0) std::memcpy(to, data + from, got);
    return got;
  };
  const auto members = zip_members(read, size);
  if (!members) return 0;
  for (std::size_t i = 0; i < members->size() && i < 4; ++i) {
    std::uint64_t unpacked = 0;
    const bool is_whole = unpack_member(read, (*members)[i],
                                        [&](std::string_view piece) { unpacked += piece.size(); });
    if (unpacked > (*members)[i].size) __builtin_trap();
    if (is_whole && unpacked != (*members)[i].size) __builtin_trap();
  }
  return 0;
}
