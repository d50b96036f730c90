#include "report/json/document.h"

#include <string>

namespace fathom::report {

namespace {

base::JsonWriter& begin_with_schema(base::JsonWriter& json, std::string_view name) {
  const std::string id = "https://fathom.invalid/" + std::string(name) + ".schema.json";
  return json.begin_object().key("schema").value(id);
}

}  // namespace

base::JsonWriter& begin_document(base::JsonWriter& json, std::string_view name) {
  return begin_with_schema(json, name).key("fathom").value(FATHOM_VERSION);
}

std::string document_begin(std::string_view name) {
  std::string text;
  base::JsonWriter json(text);
  begin_with_schema(json, name);
  return text;
}

}  // namespace fathom::report
