#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace fathom::detail {

// Protobuf fields put straight into a buffer with room enough. Messages of less than 16 kB have
// their length in two bytes, so that it can be filled in afterwards.
class PacketBytes {
 public:
  explicit PacketBytes(std::uint8_t* at) : at_(at) {}

  std::uint8_t* at() const { return at_; }

  void number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
  }
  void text(std::uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    std::memcpy(at_, value.data(), value.size());
    at_ += value.size();
  }

  // Everything until end(begin(field)) is inside the message.
  std::uint8_t* begin(std::uint32_t field) {
    varint(field << 3 | 2);
    std::uint8_t* const length = at_;
    at_ += 2;
    return length;
  }
  void end(std::uint8_t* length) {
    const auto size = static_cast<std::uint32_t>(at_ - length - 2);
    length[0] = static_cast<std::uint8_t>(size | 0x80);
    length[1] = static_cast<std::uint8_t>(size >> 7);
  }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<std::uint8_t>(value | 0x80);
    *at_++ = static_cast<std::uint8_t>(value);
  }

  std::uint8_t* at_;
};

}  // namespace fathom::detail
