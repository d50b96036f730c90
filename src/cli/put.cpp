#include "cli/put.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/format.h"

namespace fathom::cli {

void put(std::string_view text, const std::string& path) {
  if (path.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw base::Error(path, std::strerror(errno));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) throw base::Error(path, "cannot write");
  fmt::print("{}: {}\n", path, base::format_bytes(static_cast<double>(text.size())));
}

}  // namespace fathom::cli
