#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace fathom::compare {

// Which of the calls of a step: the second of four.
struct PlaceInStep {
  std::size_t place = 1;  // counted from 1
  std::size_t count = 1;
};

// Which calls of an operation are compared; all of them, where nothing is said.
struct CallSubset {
  std::string shape;  // what they worked on; empty where unknown or not the same
  std::string path;   // the operations around them; empty where there are none or not the same
  std::optional<PlaceInStep> place;

  // What is left of an operation that was taken apart by this.
  enum class Rest : std::uint8_t { none, of_shapes, of_paths, of_places };
  Rest rest = Rest::none;

  // What tells them from the other calls of the operation, in words; empty where there are none.
  std::string words;

  // What the calls mostly worked on, where the sides have no shape in common.
  std::string base_shape;
  std::string current_shape;
};

// Gives each of the parts of one operation the words that tell it from the others, and no more.
void tell_apart(std::span<CallSubset* const> parts);

}  // namespace fathom::compare
