#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/json_scan.h"
#include "trace/read/nsys/nsys.h"

// Any bytes that say they are a SQLite database: no crash, and arguments that are JSON.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  bytes.replace(0, std::min(bytes.size(), kMagic.size()), kMagic);
  try {
    const fathom::trace::Trace trace =
        fathom::trace::read_nsys(fathom::trace::Input::from_bytes(std::move(bytes)));
    for (fathom::trace::SpanId id = 0; id < trace.spans.size() && id < 50; ++id) {
      const std::string args = trace.args(id);
      if (!args.empty() && !fathom::base::is_json(args)) std::abort();
      if (trace.spans.duration_ns[id] < 0) std::abort();
    }
  } catch (const fathom::base::Error&) {
    // What cannot be read is refused.
  }
  return 0;
}
