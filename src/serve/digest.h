#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

// SHA-256 and random secrets, by OpenSSL.
namespace fathom::serve {

using Digest = std::array<unsigned char, 32>;

Digest sha256(std::string_view bytes);
std::string to_hex(const Digest& digest);
std::optional<Digest> digest_of_hex(std::string_view hex);  // 64 digits

// Takes as long whether they are equal or not.
bool are_equal(const Digest& a, const Digest& b);

// 256 bits that nobody can guess, in hexadecimal. Throws base::Error where there are none to be
// had.
std::string random_secret();

}  // namespace fathom::serve
