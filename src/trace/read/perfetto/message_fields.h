#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fathom::trace {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// Walks the fields of one protobuf message. It trusts nothing and throws nothing: run files have
// tens of millions of packets and may end anywhere. After `next` says false, `broken` tells a
// message that is damaged from one that is finished.
//
//   for (Fields f(message); f.next();) switch (f.number()) { case kPid: pid = f.signed_value(); … }
class Fields {
 public:
  explicit Fields(std::string_view message)
      : at_(message.data()), end_(message.data() + message.size()) {}

  // Inlined by force: the loops over fields are all there is to reading a packet.
  [[gnu::always_inline]] bool next() {
    if (at_ == end_) return false;
    std::uint64_t tag = 0;
    if (!read_varint(tag) || tag >> 3 == 0 || tag >> 3 > kMaxField) return fail();
    number_ = static_cast<std::uint32_t>(tag >> 3);
    switch (tag & 7) {
      case 0:
        type_ = WireType::varint;
        return read_varint(value_) || fail();
      case 1:
        type_ = WireType::fixed64;
        return read_fixed(8) || fail();
      case 2: {
        type_ = WireType::bytes;
        std::uint64_t length = 0;
        if (!read_varint(length) || length > static_cast<std::uint64_t>(end_ - at_)) return fail();
        bytes_ = {at_, static_cast<std::size_t>(length)};
        at_ += length;
        return true;
      }
      case 5:
        type_ = WireType::fixed32;
        return read_fixed(4) || fail();
      default:
        return fail();
    }
  }

  std::uint32_t number() const { return number_; }
  WireType type() const { return type_; }
  bool broken() const { return broken_; }

  // The value as a number; 0 where the field turns out to hold bytes.
  std::uint64_t value() const { return type_ == WireType::bytes ? 0 : value_; }
  std::int64_t signed_value() const { return static_cast<std::int64_t>(value()); }
  double real() const { return type_ == WireType::fixed64 ? std::bit_cast<double>(value_) : 0; }
  // The value as bytes; empty where the field turns out to hold a number.
  std::string_view bytes() const { return type_ == WireType::bytes ? bytes_ : std::string_view(); }

  const char* position() const { return at_; }

 private:
  static constexpr std::uint64_t kMaxField = (1U << 29) - 1;

  bool fail() {
    broken_ = true;
    at_ = end_;
    return false;
  }

  [[gnu::always_inline]] bool read_varint(std::uint64_t& value) {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80) {
      value = static_cast<unsigned char>(*at_++);
      return true;
    }
    return read_long_varint(value);
  }

  [[gnu::noinline]] bool read_long_varint(std::uint64_t& value) {
    std::uint64_t result = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      result |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) {
        value = result;
        return true;
      }
    }
    return false;
  }

  bool read_fixed(std::size_t size) {
    if (static_cast<std::size_t>(end_ - at_) < size) return false;
    value_ = 0;
    std::memcpy(&value_, at_, size);
    at_ += size;
    return true;
  }

  const char* at_;
  const char* end_;
  std::uint64_t value_ = 0;
  std::string_view bytes_;
  std::uint32_t number_ = 0;
  WireType type_ = WireType::varint;
  bool broken_ = false;
};

// Calls `each` for every element of a repeated number, which may come packed or one by one.
template <typename Each>
void for_each_varint(const Fields& field, Each each) {
  if (field.type() != WireType::bytes) {
    each(field.value());
    return;
  }
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const char c : field.bytes()) {
    const auto byte = static_cast<unsigned char>(c);
    if (shift < 64) value |= std::uint64_t{byte & 0x7FU} << shift;
    shift += 7;
    if (byte < 0x80) {
      each(value);
      value = 0;
      shift = 0;
    }
  }
}

template <typename Each>
void for_each_fixed64(const Fields& field, Each each) {
  if (field.type() != WireType::bytes) {
    each(field.value());
    return;
  }
  for (std::size_t at = 0; at + 8 <= field.bytes().size(); at += 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, field.bytes().data() + at, 8);
    each(value);
  }
}

}  // namespace fathom::trace
