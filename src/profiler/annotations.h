#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fathom/attribute.h"

namespace fathom::detail {

// Attributes travel as the debug annotations of a Perfetto TrackEvent: fields 4 of it, one after
// the other, ready to be written.
void append_annotation(std::string& out, const Attribute& attribute);
std::vector<Attribute> read_annotations(std::string_view annotations);

}  // namespace fathom::detail
