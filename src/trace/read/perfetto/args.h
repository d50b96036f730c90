#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_pool.h"
#include "trace/read/perfetto/packets.h"
#include "trace/read/perfetto/sequence.h"

namespace fathom::trace {

// Finds and decodes the debug annotations of a packet that was read before.
class PerfettoArgs {
 public:
  PerfettoArgs(std::string_view bytes, std::shared_ptr<const void> owner, base::StringPool pool,
               std::unordered_map<std::uint32_t, std::vector<AnnotationNames>> names)
      : bytes_(bytes), owner_(std::move(owner)), pool_(std::move(pool)), names_(std::move(names)) {}

  // JSON object text; empty where the packet has none.
  std::string at(PacketPlace place) const;

 private:
  const AnnotationNames* names_of(std::uint32_t sequence, PacketPlace place) const;

  std::string_view bytes_;
  std::shared_ptr<const void> owner_;
  base::StringPool pool_;
  std::unordered_map<std::uint32_t, std::vector<AnnotationNames>> names_;
};

}  // namespace fathom::trace
