#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/http.h"

namespace fathom::serve {

// Headers of every answer, whatever it is: nothing here is for other sites, or for caches.
extern const char* const common_headers;

Response json_answer(int status, std::string json);
Response ready_answer(std::shared_ptr<const std::string> bytes, std::string_view type);
Response error_answer(int status, std::string_view sentence);  // {"error": "sentence"}
// The page with its own policy, which runs no script but the page's.
Response page_answer(int status, std::shared_ptr<const std::string> html);

// The members of a JSON object that are text or numbers. Nothing where the body is no object.
class Fields {
 public:
  static std::optional<Fields> of(const std::string& body);

  std::optional<std::string> text(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  // Name and value of each, as they stand there; text without its quotes.
  std::vector<std::pair<std::string, std::string>> all() const;

 private:
  std::optional<std::string_view> written(std::string_view name) const;
  std::string_view body_;
};

}  // namespace fathom::serve
