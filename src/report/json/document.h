#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_writer.h"

namespace fathom::report {

// How every JSON that a command writes begins: {"schema": the $id of docs/NAME.schema.json,
// "fathom": the version that wrote it, … The $id is a name, and nothing is there to be fetched;
// validators of some age resolve references from web addresses alone. The schema comes first, so
// that a file can be told by its beginning, whatever the version.
base::JsonWriter& begin_document(base::JsonWriter& json, std::string_view name);

// The first bytes of such a document.
std::string document_begin(std::string_view name);

// For a field that is null where the text is empty.
inline std::optional<std::string_view> known_text(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

}  // namespace fathom::report
