#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace fathom::base {

using StringId = std::uint32_t;

// Stores each distinct string once and gives it a small number. Ids count up from 0 in the order
// the strings were first seen; id 0 is always the empty string. Views stay valid as long as the
// pool. One thread at a time.
class StringPool {
 public:
  StringPool();

  StringId intern(std::string_view text);
  std::string_view view(StringId id) const { return views_[id]; }
  std::size_t size() const { return views_.size(); }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    StringId id = kFree;
  };
  static constexpr StringId kFree = UINT32_MAX;

  std::string_view store(std::string_view text);
  void grow();

  std::vector<std::string_view> views_;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace fathom::base
