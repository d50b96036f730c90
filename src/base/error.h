#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace fathom::base {

// Bad input, a missing file or a refused operation: what was wrong, where, and what to do about it.
// Caught once in main, and printed there as one line.
class Error : public std::runtime_error {
 public:
  Error(std::string where, std::string what, std::string hint = {})
      : std::runtime_error(where + ": " + what + (hint.empty() ? "" : ". " + hint)),
        where_(std::move(where)),
        what_(std::move(what)),
        hint_(std::move(hint)) {}

  const std::string& where() const { return where_; }
  const std::string& problem() const { return what_; }
  const std::string& hint() const { return hint_; }

 private:
  std::string where_;
  std::string what_;
  std::string hint_;
};

}  // namespace fathom::base
