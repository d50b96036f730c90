#pragma once

#include <string>
#include <string_view>

#include "serve/http.h"

// The bytes before the body of an answer.
namespace fathom::serve {

struct HeadOptions {
  std::string_view common_headers;  // whole lines
  bool has_length = true;           // not of a stream, whose end is that of the connection
  bool closes = false;
  bool is_old = false;  // asked with HTTP/1.0
};

void append_head(std::string& head, const Response& response, const HeadOptions& options);

}  // namespace fathom::serve
