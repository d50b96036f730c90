// Any bytes: what is printable is UTF-8 on one line that does nothing to a terminal, and stays as
// it is when it is made printable again; and so is JSON of it.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/json_writer.h"
#include "base/printable.h"

namespace {

void check(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = fathom::base::utf8_length(text);
    if (length == 0) __builtin_trap();
    if (fathom::base::acts_on_a_terminal(fathom::base::code_point(text, length))) __builtin_trap();
    text.remove_prefix(length);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::base;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string shown = printable(text);
  check(shown);
  if (printable(shown) != shown) __builtin_trap();
  std::string json;
  append_json_string(json, text);
  check(json);
  const std::size_t columns = size % 40;
  const std::string cut = fit(text, columns);
  check(cut);
  if (display_width(cut) > columns) __builtin_trap();
  return 0;
}
