#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace fathom::cli {

// Where `document` is not as docs/NAME.schema.json says, a line each: "/operations/0/kind: …".
// Knows what the schemas of docs/ use: type, enum, const, required, properties,
// additionalProperties, items, minimum, allOf, anyOf, oneOf, and references within a schema and to
// others of docs/. Stricter than a schema in one thing: what no schema describes is a fault.
std::vector<std::string> faults_against(const std::string& name, const nlohmann::json& document);
// The same against a schema that refers to others within `root`: one of docs/openapi.yaml.
std::vector<std::string> faults_against(const nlohmann::json& schema, const nlohmann::json& root,
                                        const nlohmann::json& document);

}  // namespace fathom::cli
