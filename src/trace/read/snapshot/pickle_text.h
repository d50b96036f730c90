#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::trace {

// Texts of pickles, as the opcodes of protocols 0 and 1 have them.

// STRING: a Python literal with its quotes, 'it\'s\n'. Absent where it is none.
std::optional<std::string> decode_python_literal(std::string_view text);

// UNICODE: all as it is, but for \uXXXX, \UXXXXXXXX and bytes above 127, which are Latin-1.
std::string decode_raw_unicode(std::string_view text);

// LONG1 and LONG4: two's complement, little end first. Absent where it does not fit.
std::optional<std::int64_t> decode_long(std::string_view bytes);

// INT and LONG: decimal, with or without an L; absent where it is not a number or does not fit.
std::optional<std::int64_t> decode_decimal(std::string_view text);

}  // namespace fathom::trace
