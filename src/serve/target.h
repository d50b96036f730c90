#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What stands in the first line and the cookies of a request, taken apart. Whatever the bytes are,
// these give parts or nothing.
namespace fathom::serve {

struct Target {
  std::vector<std::string> segments;  // of the path, decoded: "/a/b%2Fc" is {"a", "b/c"}
  std::vector<std::pair<std::string, std::string>> query;  // decoded, as often as they stand there

  // The value of a name that stands there once.
  std::optional<std::string> value(std::string_view name) const;
};

// Nothing where it is not a path with a query: no slash at its start, a % without two hexadecimal
// digits, or a control character, decoded or not.
std::optional<Target> parse_target(std::string_view target);

// Of a header `Cookie: a=b; c=d`; empty where it is not there, or there twice.
std::string_view cookie_value(std::string_view header, std::string_view name);

// Of a header `Authorization: Bearer TOKEN`; empty where it is of another kind.
std::string_view bearer_token(std::string_view header);

}  // namespace fathom::serve
