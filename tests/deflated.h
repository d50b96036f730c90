#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>

// What tests feed to readers of packed files.
namespace fathom {

// zlib's "window bits": what stands around the packed bytes.
inline constexpr int kGzipBits = 15 + 16;
inline constexpr int kBareBits = -15;  // nothing, as within a ZIP archive

// `head`, then `piece` so many times; a piece at a time, so that gigabytes can be packed.
inline std::string deflated(const std::string& head, const std::string& piece, std::int64_t times,
                            int bits = kGzipBits) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY);
  std::string packed;
  std::string room(1 << 16, '\0');
  const auto add = [&](const std::string& text, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(room.data());
      stream.avail_out = static_cast<uInt>(room.size());
      deflate(&stream, flush);
      packed.append(room, 0, room.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  add(head, Z_NO_FLUSH);
  for (std::int64_t i = 0; i < times; ++i) add(piece, Z_NO_FLUSH);
  add("", Z_FINISH);
  deflateEnd(&stream);
  return packed;
}

inline std::string deflated(const std::string& text, int bits = kGzipBits) {
  return deflated(text, {}, 0, bits);
}

}  // namespace fathom
