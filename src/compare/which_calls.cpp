#include "compare/which_calls.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

namespace fathom::compare {
namespace {

constexpr std::string_view kInside = " › ";

std::string_view innermost(std::string_view path) {
  const std::size_t at = path.rfind(kInside);
  return at == std::string_view::npos ? path : path.substr(at + kInside.size());
}

// The paths of the parts of one shape: as short as tells them apart.
struct Paths {
  std::set<std::string_view> whole;
  std::set<std::string_view> inner;

  std::string words(std::string_view path) const {
    if (whole.size() < 2) return {};
    if (path.empty()) return "in no other operation";
    return fmt::format("in {}", inner.size() == whole.size() ? innermost(path) : path);
  }
};

void add_words(std::string& to, std::string_view words) {
  if (words.empty()) return;
  if (!to.empty()) to += " · ";
  to += words;
}

}  // namespace

void tell_apart(std::span<WhichCalls* const> parts) {
  if (parts.size() < 2) return;
  std::map<std::string_view, Paths> by_shape;
  for (const WhichCalls* part : parts) {
    if (part->is_rest && !part->place && part->shape.empty() && part->path.empty()) continue;
    by_shape[part->shape].whole.insert(part->path);
    by_shape[part->shape].inner.insert(innermost(part->path));
  }
  for (WhichCalls* part : parts) {
    if (by_shape.size() > 1 && !part->shape.empty()) add_words(part->words, part->shape);
    const auto paths = by_shape.find(part->shape);
    if (paths != by_shape.end() && !(part->is_rest && part->path.empty())) {
      add_words(part->words, paths->second.words(part->path));
    }
    if (part->place) {
      add_words(part->words,
                fmt::format("call {} of {} in a step", part->place->place, part->place->count));
    }
    if (part->is_rest) add_words(part->words, "other calls");
  }
}

}  // namespace fathom::compare
