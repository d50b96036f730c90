#include "record/opencl/sink.h"

#include <cstdio>
#include <cstdlib>

namespace fathom::record::opencl {
namespace {
const char* const kKinds[] = {"kernel", "copy", "fill", "map",        "unmap",
                              "marker", "call", "sync", "allocation", "free"};
FILE* out() {
  static FILE* const file = [] {
    const char* path = std::getenv("FATHOM_OPENCL_DUMP");
    return path == nullptr ? nullptr : std::fopen(path, "a");
  }();
  return file;
}
}  // namespace

void finished(const Command& c) noexcept {
  if (out() == nullptr) return;
  std::fprintf(out(), "%s\t%s\t%ld\t%ld\t%ld\t%d\n", kKinds[static_cast<int>(c.kind)], c.name,
               (long)c.bytes, (long)(c.end_ns - c.start_ns), (long)c.correlation, c.status);
}
void device_found(std::int32_t, const char*) noexcept {}
std::uint64_t open_scope() noexcept {
  return 0;
}
void flush() noexcept {
  if (out()) std::fflush(out());
}
void lost(Loss why, std::uint64_t count) noexcept {
  if (out()) std::fprintf(out(), "lost\t%d\t%ld\n", (int)why, (long)count);
}

}  // namespace fathom::record::opencl
