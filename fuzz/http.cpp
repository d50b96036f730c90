// Any bytes as what stands in the first line, headers and body of a request: taken apart without
// harm, and what is not an address of the server is never one of its routes.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_text.h"
#include "serve/access.h"
#include "serve/answers.h"
#include "serve/files.h"
#include "serve/routes.h"
#include "serve/target.h"

namespace {

using namespace fathom::serve;

void check(bool holds) {
  if (!holds) __builtin_trap();
}

// The next line of the input.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto hosts = allowed_hosts("127.0.0.1", 6970, {"gpu1.example"});
  static const Folder folder("/usr");
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view method = take_line(text);
  const std::string_view address = take_line(text);
  Request request;
  request.host = take_line(text);
  request.origin = take_line(text);
  request.fetch_site = take_line(text);
  const std::string_view cookie = take_line(text);
  const std::string_view authorization = take_line(text);

  if (const auto target = parse_target(address)) {
    for (const std::string& segment : target->segments)
      check(fathom::base::is_utf8(segment) && segment.find('\n') == std::string::npos);
    const Match matched = match(method, *target);
    if (matched.route != nullptr) {
      check(matched.route->method == method);
      for (const std::string& parameter : matched.parameters) check(!parameter.empty());
    }
    // No name with a part that is hidden, or "..", opens anything.
    for (const auto& [name, value] : target->query) {
      if (value.starts_with('.') || value.find("/.") != std::string::npos)
        check(!folder.open(value).is_open());
    }
  }
  if (is_allowed_host(request.host, hosts)) check(request.host.find("evil") == std::string::npos);
  const bool is_here = is_from_here(request, true, hosts);
  check(!is_here || request.fetch_site != "cross-site");
  cookie_value(cookie, "fathom_6970");
  bearer_token(authorization);
  const std::string body(text);
  if (const auto fields = Fields::of(body)) {
    fields->text("token");
    fields->number("ms");
  }
  return 0;
}
