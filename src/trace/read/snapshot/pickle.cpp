#include "trace/read/snapshot/pickle.h"

#include "trace/read/snapshot/pickle_machine.h"

namespace fathom::trace {
namespace {

// Dicts whose keys have names have few. One with millions that a million others share must not be
// searched for each of them.
constexpr std::size_t kMostKeys = 256;

}  // namespace

Pickle::Pickle(std::string_view bytes) {
  PickleMachine(*this, bytes).run();
}

std::optional<std::int64_t> Pickle::integer(PickleRef value) const {
  const Node& node = nodes_[value];
  if (node.kind != PickleKind::integer && node.kind != PickleKind::boolean) return std::nullopt;
  return node.integer;
}

std::optional<double> Pickle::real(PickleRef value) const {
  if (nodes_[value].kind == PickleKind::real) return nodes_[value].real;
  if (const auto whole = integer(value)) return static_cast<double>(*whole);
  return std::nullopt;
}

std::string_view Pickle::text(PickleRef value) const {
  const Node& node = nodes_[value];
  if (node.kind != PickleKind::text) return {};
  return {node.text, node.size};
}

std::span<const PickleRef> Pickle::items(PickleRef value) const {
  const Node& node = nodes_[value];
  if (node.kind < PickleKind::list || node.kind > PickleKind::dict) return {};
  return containers_[node.size];
}

std::optional<PickleRef> Pickle::find(PickleRef dict, std::string_view key) const {
  if (kind(dict) != PickleKind::dict) return std::nullopt;
  // Of two with one key the later counts, as in Python.
  const std::span<const PickleRef> all = items(dict);
  const std::size_t end = all.size() & ~std::size_t{1};
  const std::size_t first = end > 2 * kMostKeys ? end - 2 * kMostKeys : 0;
  for (std::size_t i = end; i > first; i -= 2) {
    if (kind(all[i - 2]) == PickleKind::text && text(all[i - 2]) == key) return all[i - 1];
  }
  return std::nullopt;
}

}  // namespace fathom::trace
