#pragma once

#include <string>
#include <string_view>

namespace fathom::base {

// The MD5 of bytes (RFC 1321), as 32 hexadecimal digits: to notice damage, not to keep anybody out.
std::string md5_hex(std::string_view bytes);

}  // namespace fathom::base
