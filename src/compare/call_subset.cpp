#include "compare/call_subset.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

#include "compare/call_sites.h"

namespace fathom::compare {
namespace {

using Rest = CallSubset::Rest;

std::string_view innermost(std::string_view path) {
  const std::size_t at = path.rfind(kInside);
  return at == std::string_view::npos ? path : path.substr(at + kInside.size());
}

// What parts there are at one level; the rest of the level is one more.
struct Values {
  std::set<std::string_view> all;
  bool has_rest = false;

  bool must_be_named() const { return all.size() + (has_rest ? 1 : 0) > 1; }
};

std::string path_words(const Values& paths, const CallSubset& part) {
  if (part.rest == Rest::of_paths) return "in other operations";
  if (part.path.empty()) return "in no operation";
  std::set<std::string_view> inner;
  for (const std::string_view path : paths.all) inner.insert(innermost(path));
  return fmt::format("in {}", inner.size() == paths.all.size() ? innermost(part.path) : part.path);
}

void add_words(std::string& to, std::string_view words) {
  if (!to.empty()) to += " · ";
  to += words;
}

}  // namespace

void tell_apart(std::span<CallSubset* const> parts) {
  Values shapes;
  std::map<std::string_view, Values> paths;  // of each shape
  for (const CallSubset* part : parts) {
    if (part->rest == Rest::of_shapes) {
      shapes.has_rest = true;
      continue;
    }
    shapes.all.insert(part->shape);
    if (part->rest == Rest::of_paths) {
      paths[part->shape].has_rest = true;
    } else {
      paths[part->shape].all.insert(part->path);
    }
  }
  for (CallSubset* part : parts) {
    if (part->rest == Rest::of_shapes) {
      add_words(part->words, "other shapes");
      continue;
    }
    if (shapes.must_be_named()) {
      add_words(part->words, part->shape.empty() ? "of unknown shape" : part->shape);
    }
    const Values& of_shape = paths[part->shape];
    if (of_shape.must_be_named()) add_words(part->words, path_words(of_shape, *part));
    if (part->rest == Rest::of_places) add_words(part->words, "other calls of a step");
    if (part->place) {
      add_words(part->words,
                fmt::format("call {} of {} in a step", part->place->place, part->place->count));
    }
  }
}

}  // namespace fathom::compare
