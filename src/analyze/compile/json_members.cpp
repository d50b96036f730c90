#include "analyze/compile/json_members.h"

#include <algorithm>

#include "trace/read/number.h"

namespace fathom::analyze {

std::optional<Members> members_of(std::string_view object) {
  Members members;
  const bool is_right = base::for_each_member(
      object, base::JsonScanner::Mode::lenient,
      [&](std::string_view key, std::string_view value) { members[key] = value; });
  if (!is_right) return {};
  return members;
}

std::string_view member(const Members& members, std::string_view key) {
  const auto at = members.find(key);
  return at == members.end() || at->second == "null" ? std::string_view{} : at->second;
}

std::string text_of(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return std::string(value);
  return base::unescaped(value.substr(1, value.size() - 2));
}

std::optional<std::int64_t> whole_of(std::string_view value) {
  return value.empty() ? std::nullopt : trace::parse_integer(value);
}

std::optional<std::int64_t> time_of(const Members& metrics,
                                    std::initializer_list<std::string_view> fields) {
  for (const std::string_view field : fields) {
    const std::string_view value = member(metrics, field);
    if (value.empty()) continue;
    const auto ns =
        field.ends_with("_us") ? trace::parse_time_ns(value) : trace::parse_scaled(value, 9);
    if (ns) return std::max<std::int64_t>(*ns, 0);
  }
  return {};
}

std::vector<std::string> texts_of(std::string_view array) {
  std::vector<std::string> texts;
  for_each_element(array, [&](std::string_view value) { texts.push_back(text_of(value)); });
  return texts;
}

}  // namespace fathom::analyze
