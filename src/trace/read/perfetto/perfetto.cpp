#include "trace/read/perfetto/perfetto.h"

#include <unordered_set>
#include <utility>

#include "trace/read/perfetto/reader.h"

namespace fathom::trace {
namespace {

constexpr int kMaxPasses = 3;

}  // namespace

Trace read_perfetto(std::string_view bytes, std::shared_ptr<const void> owner) {
  Clocks clocks;
  std::unordered_set<std::uint64_t> unordered;
  // One pass is enough for nearly every file. Another follows where events came before the clocks
  // they are told in, or on a track not in the order of time.
  for (int pass = 1;; ++pass) {
    PerfettoReader reader(std::move(clocks), unordered);
    reader.read(bytes);
    if (pass == kMaxPasses || !reader.needs_another_pass()) {
      return reader.finish(bytes, std::move(owner));
    }
    unordered.insert(reader.found_unordered().begin(), reader.found_unordered().end());
    clocks = reader.take_clocks();
  }
}

}  // namespace fathom::trace
