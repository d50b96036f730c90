#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace fathom {

// Numbers beyond what 63 bits hold are unsigned; all others are signed.
using AttributeValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

// Something a scope wants remembered: {"batch", 32}, {"model", "resnet50"}, {"cached", true}.
struct Attribute {
  std::string name;
  AttributeValue value;

  Attribute(std::string attribute_name, bool flag) : name(std::move(attribute_name)), value(flag) {}
  Attribute(std::string attribute_name, std::integral auto number)
      : name(std::move(attribute_name)), value(static_cast<std::int64_t>(number)) {
    if constexpr (std::unsigned_integral<decltype(number)> &&
                  sizeof number == sizeof(std::uint64_t)) {
      if (number > std::uint64_t{INT64_MAX}) value = std::uint64_t{number};
    }
  }
  Attribute(std::string attribute_name, std::floating_point auto number)
      : name(std::move(attribute_name)), value(static_cast<double>(number)) {}
  Attribute(std::string attribute_name, std::string text)
      : name(std::move(attribute_name)), value(std::move(text)) {}
  Attribute(std::string attribute_name, std::string_view text)
      : Attribute(std::move(attribute_name), std::string(text)) {}
  Attribute(std::string attribute_name, const char* text)
      : Attribute(std::move(attribute_name), std::string(text)) {}

  bool operator==(const Attribute&) const = default;
};

}  // namespace fathom
