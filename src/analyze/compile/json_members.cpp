#include "analyze/compile/json_members.h"

#include <simdjson.h>

#include <algorithm>

#include "trace/read/number.h"

namespace fathom::analyze {

namespace {

std::string_view without_spaces(std::string_view token) {
  return token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
}

simdjson::simdjson_result<std::string_view> raw_text(simdjson::ondemand::value value) {
  simdjson::ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  if (type == simdjson::ondemand::json_type::object) {
    simdjson::ondemand::object object;
    if (const auto error = value.get_object().get(object)) return error;
    return object.raw_json();
  }
  if (type == simdjson::ondemand::json_type::array) {
    simdjson::ondemand::array array;
    if (const auto error = value.get_array().get(array)) return error;
    return array.raw_json();
  }
  return value.raw_json_token();
}

// As simdjson reads it; nothing where it finds a fault, which may be one that others do not mind.
std::optional<Members> quick_members(std::string_view object) {
  thread_local simdjson::ondemand::parser parser;
  thread_local std::string padded;
  padded.reserve(object.size() + simdjson::SIMDJSON_PADDING);
  padded = object;
  simdjson::ondemand::document document;
  simdjson::ondemand::object found;
  if (parser.iterate(padded.data(), padded.size(), padded.capacity()).get(document)) return {};
  if (document.get_object().get(found)) return {};
  // Views into what was given, not into the copy.
  const auto in_object = [&](std::string_view text) {
    return object.substr(static_cast<std::size_t>(text.data() - padded.data()), text.size());
  };
  Members members;
  for (auto field : found) {
    simdjson::ondemand::raw_json_string key;
    std::string_view value;
    if (field.key().get(key) || raw_text(field.value()).get(value)) return {};
    const std::string_view rest =
        std::string_view(padded).substr(static_cast<std::size_t>(key.raw() - padded.data()));
    members.emplace_back(in_object(rest.substr(0, rest.find('"'))),
                         in_object(without_spaces(value)));
  }
  if (!without_spaces(object).ends_with('}')) return {};
  return members;
}

}  // namespace

std::optional<Members> members_of(std::string_view object) {
  if (auto members = quick_members(object)) return members;
  Members members;
  const bool is_right = base::for_each_member(
      object, base::JsonScanner::Mode::lenient,
      [&](std::string_view key, std::string_view value) { members.emplace_back(key, value); });
  if (!is_right) return {};
  return members;
}

std::string_view member(const Members& members, std::string_view key) {
  const auto at = std::find_if(members.rbegin(), members.rend(),
                               [&](const auto& field) { return field.first == key; });
  return at == members.rend() || at->second == "null" ? std::string_view{} : at->second;
}

std::string text_of(std::string_view value) {
  constexpr std::size_t kMostText = 1 << 16;  // what people read; no name is as long
  const bool is_text = value.size() >= 2 && value.front() == '"';
  if (is_text) value = value.substr(1, value.size() - 2);
  if (value.size() > kMostText) {
    value = value.substr(0, kMostText);
    // Not in the middle of an escape.
    const std::size_t last = value.rfind('\\');
    if (last != std::string_view::npos && last + 6 > value.size()) value = value.substr(0, last);
    while (value.ends_with('\\')) value.remove_suffix(1);
  }
  return is_text ? base::unescaped(value) : std::string(value);
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
