#pragma once

#include <cstdint>
#include <vector>

namespace fathom::analyze {

// Places in a list by number (of a name), for one list after another: beginning anew costs nothing,
// so that many GPUs in a trace do not cost a pass over all of its names each.
class NamePlaces {
 public:
  static constexpr std::uint32_t kUnseen = UINT32_MAX;

  explicit NamePlaces(std::size_t numbers) : entries_(numbers) {}

  void begin_list() { ++list_; }

  // kUnseen where it has none in this list yet.
  std::uint32_t& of(std::size_t number) {
    Entry& entry = entries_[number];
    if (entry.list != list_) entry = {list_, kUnseen};
    return entry.place;
  }

 private:
  struct Entry {
    std::uint32_t list = 0;
    std::uint32_t place = kUnseen;
  };

  std::vector<Entry> entries_;
  std::uint32_t list_ = 1;
};

}  // namespace fathom::analyze
