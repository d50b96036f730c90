#pragma once

#include <string>
#include <string_view>

namespace fathom::monitor {

// A command line with its secrets masked, for whatever shows one: values of options and variables
// whose names speak of a password, token, key or secret; credentials in URLs and in authorization
// headers; words that look like keys of well-known services; and whose home folder a path is in.
// Masks too much rather than too little.
std::string redacted(std::string_view command_line);

}  // namespace fathom::monitor
