#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::base {

// Appends JSON text to a string, element by element; commas, quotes and escapes are its business.
// What is unknown is null: an empty optional, NaN and infinities. Text that is not UTF-8 is
// repaired.
//
//   JsonWriter json(out);
//   json.begin_object().key("calls").value(3).key("mean_ns").value(mean).end_object();
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool flag) { return raw(flag ? "true" : "false"); }
  JsonWriter& value(double number);
  JsonWriter& value(std::integral auto number) {
    if constexpr (std::signed_integral<decltype(number)>) return integer(number);
    return unsigned_integer(number);
  }
  template <typename T>
  JsonWriter& value(const std::optional<T>& known) {
    return known ? value(*known) : null();
  }
  JsonWriter& null() { return raw("null"); }

  // Text that is JSON already.
  JsonWriter& raw(std::string_view json);

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& integer(std::int64_t number);
  JsonWriter& unsigned_integer(std::uint64_t number);
  void separate();

  std::string& out_;
  bool needs_comma_ = false;
};

// Appends `text` to `out` as a JSON string, quotes included.
void append_json_string(std::string& out, std::string_view text);

// Length of the valid UTF-8 sequence at the start of `text`, which is not empty; 0 where there is
// none.
std::size_t utf8_length(std::string_view text);

}  // namespace fathom::base
