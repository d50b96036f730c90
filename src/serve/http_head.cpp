#include "serve/http_head.h"

#include <fmt/format.h>

#include <ctime>
#include <iterator>

namespace fathom::serve {
namespace {

// RFC 9110, 5.6.7. Made once per second.
std::string_view date_line() {
  thread_local std::time_t made_at = 0;
  thread_local char line[64];
  thread_local std::size_t size = 0;
  const std::time_t now = std::time(nullptr);
  if (now != made_at) {
    struct tm parts {};
    gmtime_r(&now, &parts);
    size = std::strftime(line, sizeof line, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
    made_at = now;
  }
  return {line, size};
}

// RFC 9110, 15; for people, because programs read the number.
std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 507:
      return "Insufficient Storage";
    default:
      return "";
  }
}

}  // namespace

void append_head(std::string& head, const Response& response, const HeadOptions& options) {
  fmt::format_to(std::back_inserter(head), "HTTP/1.1 {} {}\r\n", response.status,
                 reason_of(response.status));
  head += date_line();
  if (!response.type.empty()) {
    head += "Content-Type: ";
    head += response.type;
    head += "\r\n";
  }
  head += response.headers;
  head += options.common_headers;
  if (options.has_length && response.status != 204) {
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n",
                   response.body ? response.body->size() : 0);
  }
  if (options.closes) {
    head += "Connection: close\r\n";
  } else if (options.is_old) {
    head += "Connection: keep-alive\r\n";
  }
  head += "\r\n";
}

}  // namespace fathom::serve
