#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fathom/export.h"

namespace fathom {

// A text that is used often, as a number: the same text is the same Name in the whole process.
// Making one from text takes a lock and a look-up; keep it where it is used a million times.
class FATHOM_API Name {
 public:
  Name() = default;
  // NOLINTBEGIN(google-explicit-constructor): text is a name wherever one is wanted
  Name(std::string_view text) noexcept;
  Name(const std::string& text) noexcept : Name(std::string_view(text)) {}
  Name(const char* text) noexcept : Name(std::string_view(text)) {}
  // NOLINTEND(google-explicit-constructor)

  std::string text() const;
  bool empty() const { return id_ == 0; }
  std::uint32_t id() const { return id_; }
  bool operator==(const Name&) const = default;

 private:
  std::uint32_t id_ = 0;
};

}  // namespace fathom
