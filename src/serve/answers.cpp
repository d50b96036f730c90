#include "serve/answers.h"

#include <fmt/format.h>

#include "base/json_scan.h"
#include "base/json_writer.h"
#include "report/page/page.h"

namespace fathom::serve {
namespace {

constexpr const char* kNothingToRun =
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n";

// The policy that the page has in itself, and that nobody may frame it, which only a header can
// say.
const std::string& page_policy() {
  static const std::string policy = [] {
    constexpr std::string_view kBegin = "http-equiv=\"Content-Security-Policy\" content=\"";
    const std::string_view page = report::page_template();
    const std::size_t begin = page.find(kBegin) + kBegin.size();
    return fmt::format("Content-Security-Policy: {}; frame-ancestors 'none'\r\n",
                       page.substr(begin, page.find('"', begin) - begin));
  }();
  return policy;
}

// Of a string value, what is between its quotes.
std::optional<std::string> unquoted(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return {};
  return base::unescaped(value.substr(1, value.size() - 2));
}

}  // namespace

const char* const common_headers =
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cache-Control: no-store\r\n";

Response ready_answer(std::shared_ptr<const std::string> bytes, std::string_view type) {
  return {.type = std::string(type), .headers = kNothingToRun, .body = std::move(bytes)};
}

Response json_answer(int status, std::string json) {
  if (!json.ends_with('\n')) json += '\n';
  Response response =
      ready_answer(std::make_shared<std::string>(std::move(json)), "application/json");
  response.status = status;
  return response;
}

Response error_answer(int status, std::string_view sentence) {
  std::string text;
  base::JsonWriter(text).begin_object().key("error").value(sentence).end_object();
  return json_answer(status, std::move(text));
}

Response page_answer(int status, std::shared_ptr<const std::string> html) {
  return {.status = status,
          .type = "text/html; charset=utf-8",
          .headers = page_policy(),
          .body = std::move(html)};
}

std::optional<Fields> Fields::of(const std::string& body) {
  const bool is_object = base::for_each_member(body, base::JsonScanner::Mode::strict,
                                               [](std::string_view, std::string_view) {});
  if (!is_object) return {};
  Fields fields;
  fields.body_ = body;
  return fields;
}

// The last one, where a name stands there twice, as most readers of JSON have it.
std::optional<std::string_view> Fields::written(std::string_view name) const {
  std::optional<std::string_view> found;
  base::for_each_member(body_, base::JsonScanner::Mode::strict,
                        [&](std::string_view key, std::string_view value) {
                          if (base::unescaped(key) == name) found = value;
                        });
  return found;
}

std::optional<std::string> Fields::text(std::string_view name) const {
  const auto value = written(name);
  return value ? unquoted(*value) : std::nullopt;
}

std::vector<std::pair<std::string, std::string>> Fields::all() const {
  std::vector<std::pair<std::string, std::string>> members;
  base::for_each_member(
      body_, base::JsonScanner::Mode::strict, [&](std::string_view key, std::string_view value) {
        members.emplace_back(base::unescaped(key), unquoted(value).value_or(std::string(value)));
      });
  return members;
}

std::optional<double> Fields::number(std::string_view name) const {
  const auto value = written(name);
  return value ? base::real_of(*value) : std::nullopt;
}

}  // namespace fathom::serve
