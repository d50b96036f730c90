#include "serve/digest.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include "base/error.h"

namespace fathom::serve {
namespace {

int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

Digest sha256(std::string_view bytes) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

std::string to_hex(const Digest& digest) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::optional<Digest> digest_of_hex(std::string_view hex) {
  Digest digest;
  if (hex.size() != 2 * digest.size()) return {};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const int high = digit_value(hex[2 * i]);
    const int low = digit_value(hex[2 * i + 1]);
    if (high < 0 || low < 0) return {};
    digest[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return digest;
}

bool are_equal(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_secret() {
  Digest bits;
  if (RAND_bytes(bits.data(), static_cast<int>(bits.size())) != 1)
    throw base::Error("random numbers", "OpenSSL cannot provide any");
  return to_hex(bits);
}

}  // namespace fathom::serve
