#include "serve/openapi.h"

#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>

namespace fathom::serve {
namespace {

using nlohmann::json;

json as_json(const YAML::Node& node) {
  if (node.IsMap()) {
    json object = json::object();
    for (const auto& member : node) object[member.first.as<std::string>()] = as_json(member.second);
    return object;
  }
  if (node.IsSequence()) {
    json array = json::array();
    for (const YAML::Node& element : node) array.push_back(as_json(element));
    return array;
  }
  const bool is_quoted = node.Tag() == "!";
  if (node.IsNull() && !is_quoted) return nullptr;
  const std::string text = node.as<std::string>();
  // What is not quoted is read as JSON where that has a word for it.
  const json value = is_quoted ? json(json::value_t::discarded) : json::parse(text, nullptr, false);
  return value.is_discarded() ? json(text) : value;
}

}  // namespace

const json& openapi() {
  static const json document = as_json(YAML::LoadFile(FATHOM_SOURCE_DIR "/docs/openapi.yaml"));
  return document;
}

}  // namespace fathom::serve
