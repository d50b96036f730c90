#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/json_scan.h"
#include "trace/read/perfetto/perfetto.h"

// Any bytes: no crash, and arguments that are JSON.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  const fathom::trace::Trace trace = fathom::trace::read_perfetto(*bytes, bytes);
  for (fathom::trace::SpanId id = 0; id < trace.spans.size() && id < 50; ++id) {
    const std::string args = trace.args(id);
    if (!args.empty() && !fathom::base::is_json(args)) std::abort();
    if (trace.spans.duration_ns[id] < 0) std::abort();
  }
  return 0;
}
