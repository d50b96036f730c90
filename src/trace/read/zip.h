#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::trace {

// Reads bytes at an offset of the archive; fewer than asked only at its end.
using ReadAt = std::function<std::size_t(std::uint64_t offset, char* to, std::size_t size)>;

struct ZipMember {
  std::string name;
  std::uint16_t method = 0;  // 0: as it is, 8: deflate
  bool is_encrypted = false;
  std::uint64_t offset = 0;  // of its own header
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
};

// The files of a ZIP archive of this size, as its directory lists them, without folders and what a
// Mac adds. Nothing where there is no directory: the archive is cut off or damaged.
std::optional<std::vector<ZipMember>> zip_members(const ReadAt& read, std::uint64_t size);

// Gives a file to `sink` in pieces, at most as much as the directory says that it is. False where
// it ends before, or is not readable.
bool unpack_member(const ReadAt& read, const ZipMember& member,
                   const std::function<void(std::string_view)>& sink);

}  // namespace fathom::trace
