#include "fathom/name.h"

#include "profiler/operations.h"

namespace fathom {

Name::Name(std::string_view text) noexcept : id_(text.empty() ? 0 : detail::operation_id(text)) {}

std::string Name::text() const {
  return id_ == 0 ? std::string() : detail::operation_name(id_);
}

}  // namespace fathom
