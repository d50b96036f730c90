#include "report/json/document.h"

#include <string>

namespace fathom::report {

base::JsonWriter& begin_document(base::JsonWriter& json, std::string_view name) {
  const std::string id = "https://fathom.invalid/" + std::string(name) + ".schema.json";
  json.begin_object().key("schema").value(id);
  return json.key("fathom").value(FATHOM_VERSION);
}

}  // namespace fathom::report
