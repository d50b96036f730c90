#include "cli/put.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/format.h"
#include "trace/write/output.h"

namespace fathom::cli {

void put(std::string text, const std::string& path) {
  if (path.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  const auto size = static_cast<double>(text.size());
  trace::Output output(path);
  output.buffer() = std::move(text);
  output.finish();
  fmt::print(stderr, "fathom: {}: {}\n", path, base::format_bytes(size));
}

}  // namespace fathom::cli
