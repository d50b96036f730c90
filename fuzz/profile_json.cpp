#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/json_scan.h"
#include "trace/read/profile/profile_json.h"

// Any text: no crash, and entries that come back as JSON.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  const fathom::trace::Trace trace = fathom::trace::read_profile_json(*bytes, bytes);
  for (fathom::trace::SpanId id = 0; id < trace.spans.size() && id < 50; ++id) {
    if (!fathom::base::is_json(trace.args(id))) std::abort();
    if (trace.spans.duration_ns[id] < 0) std::abort();
  }
  return 0;
}
