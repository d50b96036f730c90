#include "base/string_pool.h"

#include <cstring>
#include <functional>

namespace fathom::base {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;

std::uint32_t hash_of(std::string_view text) {
  const std::size_t hash = std::hash<std::string_view>{}(text);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace

StringPool::StringPool() : slots_(256) {
  intern({});
}

StringId StringPool::intern(std::string_view text) {
  const std::uint32_t hash = hash_of(text);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].id != kFree; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && views_[slots_[at].id] == text) return slots_[at].id;
  }
  const auto id = static_cast<StringId>(views_.size());
  views_.push_back(store(text));
  slots_[at] = {hash, id};
  if (views_.size() * 2 > slots_.size()) grow();
  return id;
}

std::string_view StringPool::store(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > room_) {
    room_ = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(room_));
    free_ = blocks_.back().get();
  }
  std::memcpy(free_, text.data(), text.size());
  const std::string_view stored(free_, text.size());
  free_ += text.size();
  room_ -= text.size();
  return stored;
}

void StringPool::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id == kFree) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].id != kFree) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace fathom::base
