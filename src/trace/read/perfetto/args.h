#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/string_pool.h"
#include "trace/read/perfetto/packets.h"
#include "trace/read/perfetto/sequence.h"

namespace fathom::trace {

// What compressed packets unpack to. The last ones asked for are kept: all arguments in one would
// unpack it again and again. All that is ever unpacked is bounded by the size of the file, so that
// packets which take turns cannot make it endless; after that there is nothing more to be had, and
// one line on standard error says so.
class UnpackedPackets {
 public:
  explicit UnpackedPackets(std::uint64_t file_bytes);
  struct Bytes {
    std::uint64_t most = 0;
  };
  explicit UnpackedPackets(Bytes unpacked) : left_(unpacked.most) {}

  // Of the packet at this byte of the file; null where it is not a compressed one.
  std::shared_ptr<const std::string> at(std::uint64_t byte, std::string_view packet);

 private:
  static constexpr std::size_t kKept = 16;

  std::mutex mutex_;
  std::uint64_t left_;
  bool has_said_ = false;  // that nothing is left
  std::list<std::pair<std::uint64_t, std::shared_ptr<const std::string>>> kept_;  // last used first
};

// Finds and decodes the debug annotations of a packet that was read before.
class PerfettoArgs {
 public:
  PerfettoArgs(std::string_view bytes, std::shared_ptr<const void> owner, base::StringPool pool,
               std::unordered_map<std::uint32_t, std::vector<AnnotationNames>> names)
      : bytes_(bytes),
        owner_(std::move(owner)),
        pool_(std::move(pool)),
        names_(std::move(names)),
        unpacked_(std::make_shared<UnpackedPackets>(bytes.size())) {}

  // JSON object text; empty where the packet has none.
  std::string at(PacketPlace place) const;

 private:
  const AnnotationNames* names_of(std::uint32_t sequence, PacketPlace place) const;

  std::string_view bytes_;
  std::shared_ptr<const void> owner_;
  base::StringPool pool_;
  std::unordered_map<std::uint32_t, std::vector<AnnotationNames>> names_;
  std::shared_ptr<UnpackedPackets> unpacked_;
};

}  // namespace fathom::trace
