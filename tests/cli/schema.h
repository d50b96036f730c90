#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace fathom::cli {

// Where `document` is not as the JSON schema says, a line each: "/operations/0/kind: …". Knows what
// the schemas of docs/ use: type, enum, required, properties, additionalProperties, items, minimum,
// oneOf and references within the schema.
std::vector<std::string> schema_faults(const nlohmann::json& document,
                                       const nlohmann::json& schema);

// The same, of docs/NAME.
std::vector<std::string> faults_against(const std::string& name, const nlohmann::json& document);

}  // namespace fathom::cli
