#include "trace/read/zip.h"

#include <zlib.h>

#include <algorithm>

namespace fathom::trace {
namespace {

// APPNOTE.TXT of PKWARE, sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16 and 4.5.3.
constexpr std::string_view kEndMark = "PK\x05\x06";
constexpr std::string_view kEnd64Mark = "PK\x06\x06";
constexpr std::string_view kLocator64Mark = "PK\x06\x07";
constexpr std::string_view kEntryMark = "PK\x01\x02";
constexpr std::string_view kMemberMark = "PK\x03\x04";
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kLocator64Bytes = 20;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kMemberBytes = 30;
constexpr std::size_t kLongestComment = 65535;
constexpr std::uint64_t kMostDirectoryBytes = 16U << 20;
constexpr std::size_t kPieceBytes = 1U << 20;

std::uint64_t little_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  }
  return value;
}

std::string read_some(const ReadAt& read, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(size, '\0');
  bytes.resize(read(offset, bytes.data(), bytes.size()));
  return bytes;
}

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// The record at the very end says where the directory is; one of 64 bits before it does where 32
// are not enough.
std::optional<Directory> find_directory(const ReadAt& read, std::uint64_t size) {
  const std::uint64_t look = std::min<std::uint64_t>(size, kEndBytes + kLongestComment);
  const std::string tail = read_some(read, size - look, look);
  const std::size_t at = tail.rfind(kEndMark);
  if (at == std::string::npos || tail.size() - at < kEndBytes) return std::nullopt;
  Directory found = {little_endian(tail, at + 16, 4), little_endian(tail, at + 12, 4)};
  if (at >= kLocator64Bytes && tail.compare(at - kLocator64Bytes, 4, kLocator64Mark) == 0) {
    const std::string end64 =
        read_some(read, little_endian(tail, at - kLocator64Bytes + 8, 8), kEnd64Bytes);
    if (end64.size() == kEnd64Bytes && end64.starts_with(kEnd64Mark)) {
      found = {little_endian(end64, 48, 8), little_endian(end64, 40, 8)};
    }
  }
  if (found.size > kMostDirectoryBytes || found.offset > size) return std::nullopt;
  return found;
}

// Fields that do not fit 32 bits stand in an extra one, in this order.
void read_extra64(std::string_view extra, ZipMember& member) {
  constexpr std::uint64_t kElsewhere = 0xFFFFFFFF;
  while (extra.size() >= 4) {
    const std::uint64_t length = little_endian(extra, 2, 2);
    if (length > extra.size() - 4) return;
    std::string_view field = extra.substr(4, length);
    if (little_endian(extra, 0, 2) == 1) {
      for (std::uint64_t* value : {&member.size, &member.packed_size, &member.offset}) {
        if (*value != kElsewhere || field.size() < 8) continue;
        *value = little_endian(field, 0, 8);
        field.remove_prefix(8);
      }
    }
    extra.remove_prefix(4 + length);
  }
}

bool is_file(const std::string& name) {
  return !name.ends_with('/') && !name.starts_with("__MACOSX/") && !name.ends_with(".DS_Store");
}

bool inflate_member(const ReadAt& read, std::uint64_t offset, const ZipMember& member,
                    const std::function<void(std::string_view)>& sink) {
  z_stream stream = {};
  if (inflateInit2(&stream, -15) != Z_OK) return false;  // no header of zlib's or gzip's
  std::string piece(kPieceBytes, '\0');
  std::uint64_t unpacked = 0;
  int status = Z_OK;
  for (std::uint64_t done = 0; status == Z_OK && done < member.packed_size;) {
    std::string packed = read_some(read, offset + done,
                                   std::min<std::uint64_t>(kPieceBytes, member.packed_size - done));
    if (packed.empty()) break;
    done += packed.size();
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_out =
          static_cast<uInt>(std::min<std::uint64_t>(piece.size(), member.size - unpacked + 1));
      const std::size_t room = stream.avail_out;
      status = inflate(&stream, Z_NO_FLUSH);
      const std::uint64_t got =
          std::min<std::uint64_t>(room - stream.avail_out, member.size - unpacked);
      sink({piece.data(), got});
      unpacked += got;
    } while (status == Z_OK && stream.avail_out == 0 && unpacked < member.size);
    if (unpacked == member.size) break;
  }
  inflateEnd(&stream);
  return unpacked == member.size && (status == Z_OK || status == Z_STREAM_END);
}

}  // namespace

std::optional<std::vector<ZipMember>> zip_members(const ReadAt& read, std::uint64_t size) {
  const std::optional<Directory> directory = find_directory(read, size);
  if (!directory) return std::nullopt;
  const std::string bytes = read_some(read, directory->offset, directory->size);
  std::string_view rest = bytes;
  std::vector<ZipMember> members;
  while (rest.size() >= kEntryBytes && rest.starts_with(kEntryMark)) {
    const std::uint64_t name = little_endian(rest, 28, 2);
    const std::uint64_t extra = little_endian(rest, 30, 2);
    const std::uint64_t comment = little_endian(rest, 32, 2);
    if (name + extra + comment > rest.size() - kEntryBytes) break;
    ZipMember member;
    member.is_encrypted = (little_endian(rest, 8, 2) & 1U) != 0;
    member.method = static_cast<std::uint16_t>(little_endian(rest, 10, 2));
    member.packed_size = little_endian(rest, 20, 4);
    member.size = little_endian(rest, 24, 4);
    member.offset = little_endian(rest, 42, 4);
    member.name = rest.substr(kEntryBytes, name);
    read_extra64(rest.substr(kEntryBytes + name, extra), member);
    if (is_file(member.name)) members.push_back(std::move(member));
    rest.remove_prefix(kEntryBytes + name + extra + comment);
  }
  return members;
}

bool unpack_member(const ReadAt& read, const ZipMember& member,
                   const std::function<void(std::string_view)>& sink) {
  const std::string header = read_some(read, member.offset, kMemberBytes);
  if (header.size() < kMemberBytes || !header.starts_with(kMemberMark)) return false;
  const std::uint64_t offset =
      member.offset + kMemberBytes + little_endian(header, 26, 2) + little_endian(header, 28, 2);
  if (member.method != 0) return inflate_member(read, offset, member, sink);
  std::uint64_t done = 0;
  while (done < member.size) {
    const std::string piece =
        read_some(read, offset + done, std::min<std::uint64_t>(kPieceBytes, member.size - done));
    if (piece.empty()) return false;
    sink(piece);
    done += piece.size();
  }
  return true;
}

}  // namespace fathom::trace
