#include "analyze/ranks/rank_name.h"

#include <charconv>
#include <filesystem>
#include <string_view>

namespace fathom::analyze {

std::optional<std::int64_t> rank_in_name(const std::string& source) {
  const std::string name = std::filesystem::path(source).filename().string();
  for (const std::string_view word : {"rank", "worker"}) {
    std::size_t at = name.find(word);
    if (at == std::string::npos) continue;
    at += word.size();
    if (at < name.size() && (name[at] == '-' || name[at] == '_')) ++at;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(name.data() + at, name.data() + name.size(), number);
    if (error == std::errc() && number >= 0) return number;
  }
  return std::nullopt;
}

}  // namespace fathom::analyze
