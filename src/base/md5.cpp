#include "base/md5.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace fathom::base {
namespace {

constexpr std::size_t kBlock = 64;
using State = std::array<std::uint32_t, 4>;

constexpr std::array<std::uint32_t, 64> kSines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr std::array<std::array<int, 4>, 4> kTurns = {
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

// One of the four rounds of sixteen steps. Unrolled, its tables are constants in the code.
template <std::size_t kRound>
void mix(State& s, const std::array<std::uint32_t, 16>& words) {
#pragma GCC unroll 16
  for (std::size_t i = 0; i < 16; ++i) {
    const auto [a, b, c, d] = s;
    std::uint32_t f = 0;
    std::size_t word = i;
    if constexpr (kRound == 0) f = (b & c) | (~b & d);
    if constexpr (kRound == 1) f = (d & b) | (~d & c), word = (5 * i + 1) % 16;
    if constexpr (kRound == 2) f = b ^ c ^ d, word = (3 * i + 5) % 16;
    if constexpr (kRound == 3) f = c ^ (b | ~d), word = (7 * i) % 16;
    f += a + kSines[16 * kRound + i] + words[word];
    s = {d, b + std::rotl(f, kTurns[kRound][i % 4]), b, c};
  }
}

void take_block(State& state, const char* block) {
  std::array<std::uint32_t, 16> words;
  std::memcpy(words.data(), block, kBlock);  // x86 has the order of bytes that MD5 counts in
  State s = state;
  mix<0>(s, words);
  mix<1>(s, words);
  mix<2>(s, words);
  mix<3>(s, words);
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += s[i];
}

}  // namespace

std::string md5_hex(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) take_block(state, bytes.data());
  // The rest, a bit, zeros, and how many bits there were.
  std::array<char, 2 * kBlock> tail = {};
  if (!bytes.empty()) std::memcpy(tail.data(), bytes.data(), bytes.size());
  tail[bytes.size()] = static_cast<char>(0x80);
  const std::size_t size = bytes.size() + 1 + sizeof(bits) <= kBlock ? kBlock : 2 * kBlock;
  std::memcpy(tail.data() + size - sizeof(bits), &bits, sizeof(bits));
  for (std::size_t at = 0; at < size; at += kBlock) take_block(state, tail.data() + at);
  std::string hex;
  for (const std::uint32_t word : state) {
    for (int shift = 0; shift < 32; shift += 8) {
      const std::uint32_t byte = word >> shift & 0xff;
      hex += "0123456789abcdef"[byte >> 4];
      hex += "0123456789abcdef"[byte & 15];
    }
  }
  return hex;
}

}  // namespace fathom::base
