#pragma once

#include <string>
#include <string_view>

namespace fathom::base {

// RFC 4648, padded, without line breaks.
std::string base64(std::string_view bytes);

}  // namespace fathom::base
