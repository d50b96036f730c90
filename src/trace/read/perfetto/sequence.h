#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/read/perfetto/clocks.h"

namespace fathom::trace {

// What a sequence's interning ids stand for. The ids count up from 1 in every writer we know, so
// they index an array; any other finds its place in a map, and no id can make the array large.
class IidTable {
 public:
  static constexpr std::uint32_t kMissing = UINT32_MAX;

  void set(std::uint64_t iid, std::uint32_t value) {
    if (iid < dense_.size()) {
      dense_[iid] = value;
    } else if (iid <= dense_.size() * 2 + 16) {
      dense_.resize(iid + 1, kMissing);
      dense_[iid] = value;
    } else {
      sparse_[iid] = value;
    }
  }

  std::uint32_t get(std::uint64_t iid) const {
    if (iid < dense_.size() && dense_[iid] != kMissing) return dense_[iid];
    if (sparse_.empty()) return kMissing;
    const auto at = sparse_.find(iid);
    return at == sparse_.end() ? kMissing : at->second;
  }

  bool empty() const { return dense_.empty() && sparse_.empty(); }
  void clear() {
    dense_.clear();
    sparse_.clear();
  }

 private:
  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;
};

// Names that debug annotations refer to, from one clearing of the sequence's state to the next.
// Arguments are decoded long after reading, so every generation is kept.
struct AnnotationNames {
  std::uint64_t from_source = 0;
  IidTable names;
  IidTable strings;
};

// One writer's packets: what earlier ones say holds for later ones.
struct Sequence {
  struct Clock {
    std::uint32_t id = 0;
    std::uint64_t last_ns = 0;
    std::uint64_t unit_ns = 1;
    bool incremental = false;
  };

  std::uint32_t id = 0;
  bool was_seen = false;
  bool state_is_valid = false;
  std::uint32_t default_clock = 0;  // 0: none
  std::uint64_t default_track = 0;
  bool has_default_track = false;
  std::uint32_t default_slot = UINT32_MAX;  // of the default track, once it was looked up
  IidTable names;                           // → NameId
  IidTable categories;                      // → SpanKind
  std::vector<AnnotationNames> annotations;
  std::vector<Clock> clocks;
  std::uint32_t last_clock = 0;        // of the last event ...
  Clocks::Conversion last_conversion;  // ... and how its time was converted

  // From the deprecated ThreadDescriptor.
  bool has_thread = false;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::int64_t reference_us = 0;

  Clock* clock(std::uint32_t clock_id) {
    for (Clock& known : clocks) {
      if (known.id == clock_id) return &known;
    }
    return nullptr;
  }

  AnnotationNames& annotation_names() {
    if (annotations.empty()) annotations.emplace_back();
    return annotations.back();
  }

  void clear_state(std::uint64_t source) {
    state_is_valid = true;
    default_clock = 0;
    has_default_track = false;
    default_slot = UINT32_MAX;
    names.clear();
    categories.clear();
    if (annotations.empty()) return;
    if (annotations.back().names.empty() && annotations.back().strings.empty()) return;
    annotations.emplace_back().from_source = source;
  }
};

}  // namespace fathom::trace
