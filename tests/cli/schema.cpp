#include "cli/schema.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/run_program.h"

namespace fathom::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kEnding = ".schema.json";

const json& schema_of(const std::string& name) {
  static std::map<std::string, json> read;
  const auto [at, is_new] = read.try_emplace(name);
  if (is_new) {
    at->second = json::parse(content_of(FATHOM_SOURCE_DIR "/docs/" + name + ".schema.json"));
  }
  return at->second;
}

class Check {
 public:
  explicit Check(const json& root) : root_(&root) {}

  void value(const json& document, const json& schema, const std::string& at) {
    described(document, schema, at);
    if (!document.is_object()) return;
    std::set<std::string> names;
    if (!collect(schema, names)) return;
    for (const auto& [name, member] : document.items()) {
      if (!names.contains(name))
        faults.push_back(at + ": has " + name + ", which nobody describes");
    }
  }

  std::vector<std::string> faults;

 private:
  // Calls `visit` with what a reference leads to, as long as that is the root of references.
  template <typename Visit>
  void follow(const json& schema, const Visit& visit) {
    const std::string to = schema["$ref"].get<std::string>();
    const json* const before = root_;
    const std::size_t hash = std::min(to.find('#'), to.size());
    const std::string file = to.substr(0, hash);  // of docs/; this schema where there is none
    if (!file.empty()) root_ = &schema_of(file.substr(0, file.size() - kEnding.size()));
    visit(hash < to.size() ? root_->at(json::json_pointer(to.substr(hash + 1))) : *root_);
    root_ = before;
  }

  // What is said of it, whatever else it has.
  void described(const json& document, const json& schema, const std::string& at) {
    if (schema.contains("$ref")) {
      follow(schema, [&](const json& to) { described(document, to, at); });
    }
    if (schema.contains("type") && !is_of_type(document, schema["type"])) {
      faults.push_back(at + ": is not " + schema["type"].dump());
    }
    if (schema.contains("enum") && !holds(schema["enum"], document)) {
      faults.push_back(at + ": is none of " + schema["enum"].dump());
    }
    if (schema.contains("const") && schema["const"] != document) {
      faults.push_back(at + ": is not " + schema["const"].dump());
    }
    if (schema.contains("minimum") && document.is_number() && document < schema["minimum"]) {
      faults.push_back(at + ": is below " + schema["minimum"].dump());
    }
    for (const json& part : schema.value("allOf", json::array())) described(document, part, at);
    if (schema.contains("oneOf") && fitting(document, schema["oneOf"], at) != 1) {
      faults.push_back(at + ": fits none, or several, of oneOf");
    }
    if (schema.contains("anyOf") && fitting(document, schema["anyOf"], at) == 0) {
      faults.push_back(at + ": fits none of anyOf");
    }
    if (document.is_object()) members(document, schema, at);
    if (document.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < document.size(); ++i) {
        value(document[i], schema["items"], at + "/" + std::to_string(i));
      }
    }
  }

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

  std::size_t fitting(const json& document, const json& schemas, const std::string& at) const {
    return static_cast<std::size_t>(
        std::count_if(schemas.begin(), schemas.end(), [&](const json& schema) {
          Check check(*root_);
          check.value(document, schema, at);
          return check.faults.empty();
        }));
  }

  void members(const json& document, const json& schema, const std::string& at) {
    for (const json& name : schema.value("required", json::array())) {
      if (!document.contains(name)) faults.push_back(at + ": lacks " + name.dump());
    }
    const json properties = schema.value("properties", json::object());
    const json others = schema.value("additionalProperties", json(true));
    for (const auto& [name, member] : document.items()) {
      if (properties.contains(name)) {
        value(member, properties[name], at + "/" + name);
      } else if (others.is_object()) {
        value(member, others, at + "/" + name);
      } else if (others == false) {
        faults.push_back(at + ": has " + name);
      }
    }
  }

  // The names of the members that a schema describes; false where it leaves them open on purpose.
  bool collect(const json& schema, std::set<std::string>& names) {
    if (schema.contains("additionalProperties") || schema.contains("anyOf") ||
        schema.contains("oneOf")) {
      return false;
    }
    bool is_closed = true;
    if (schema.contains("$ref")) {
      follow(schema, [&](const json& to) { is_closed &= collect(to, names); });
    }
    for (const json& part : schema.value("allOf", json::array())) is_closed &= collect(part, names);
    const json properties = schema.value("properties", json::object());
    for (const auto& [name, property] : properties.items()) names.insert(name);
    return is_closed;
  }

  const json* root_;
};

}  // namespace

std::vector<std::string> faults_against(const std::string& name, const json& document) {
  const json& schema = schema_of(name);
  return faults_against(schema, schema, document);
}

std::vector<std::string> faults_against(const json& schema, const json& root,
                                        const json& document) {
  Check check(root);
  check.value(document, schema, "");
  return check.faults;
}

}  // namespace fathom::cli
