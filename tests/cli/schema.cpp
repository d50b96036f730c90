#include "cli/schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/run_program.h"

namespace fathom::cli {
namespace {

using nlohmann::json;

class Check {
 public:
  explicit Check(const json& root) : root_(root) {}

  void value(const json& document, const json& schema, const std::string& at) {
    if (schema.contains("$ref")) {
      return value(document,
                   root_.at(json::json_pointer(schema["$ref"].get<std::string>().substr(1))), at);
    }
    if (schema.contains("type") && !is_of_type(document, schema["type"])) {
      faults.push_back(at + ": is not " + schema["type"].dump());
    }
    if (schema.contains("enum") && !holds(schema["enum"], document)) {
      faults.push_back(at + ": is none of " + schema["enum"].dump());
    }
    if (schema.contains("minimum") && document.is_number() && document < schema["minimum"]) {
      faults.push_back(at + ": is below " + schema["minimum"].dump());
    }
    if (schema.contains("oneOf")) one_of(document, schema["oneOf"], at);
    if (document.is_object()) object(document, schema, at);
    if (document.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < document.size(); ++i) {
        value(document[i], schema["items"], at + "/" + std::to_string(i));
      }
    }
  }

  std::vector<std::string> faults;

 private:
  static bool holds(const json& list, const json& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  }

  static bool is_of_type(const json& document, const json& type) {
    if (type.is_array()) {
      return std::any_of(type.begin(), type.end(),
                         [&](const json& one) { return is_of_type(document, one); });
    }
    if (type == "integer") return document.is_number_integer();
    return type == (document.is_number() ? "number" : document.type_name());
  }

  void one_of(const json& document, const json& schemas, const std::string& at) {
    std::size_t fitting = 0;
    for (const json& schema : schemas) {
      Check check(root_);
      check.value(document, schema, at);
      if (check.faults.empty()) ++fitting;
    }
    if (fitting != 1) faults.push_back(at + ": fits " + std::to_string(fitting) + " of one");
  }

  void object(const json& document, const json& schema, const std::string& at) {
    for (const json& name : schema.value("required", json::array())) {
      if (!document.contains(name)) faults.push_back(at + ": lacks " + name.dump());
    }
    const json properties = schema.value("properties", json::object());
    for (const auto& [name, member] : document.items()) {
      if (properties.contains(name)) {
        value(member, properties[name], at + "/" + name);
      } else if (schema.value("additionalProperties", json(true)) == false) {
        faults.push_back(at + ": has " + name);
      }
    }
  }

  const json& root_;
};

}  // namespace

std::vector<std::string> schema_faults(const json& document, const json& schema) {
  Check check(schema);
  check.value(document, schema, "");
  return check.faults;
}

std::vector<std::string> faults_against(const std::string& name, const json& document) {
  return schema_faults(document, json::parse(content_of(FATHOM_SOURCE_DIR "/docs/" + name)));
}

}  // namespace fathom::cli
