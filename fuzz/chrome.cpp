// Any bytes: the reader gives a trace or says what is wrong, in bounded time and memory.

#include <cstdint>
#include <string>

#include "base/error.h"
#include "trace/read/chrome/chrome.h"
#include "trace/read/sniff.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::trace;
  try {
    const auto input = Input::from_bytes({reinterpret_cast<const char*>(data), size});
    if (sniff(input->head()).format != Format::chrome_json) return 0;
    const Trace trace = read_chrome(input, 1);
    for (SpanId id = 0; id < trace.spans.size() && id < 16; ++id) {
      if (trace.spans.duration_ns[id] < 0) __builtin_trap();
      (void)trace.args(id);
    }
  } catch (const fathom::base::Error&) {
    // What is not a trace is told as such.
  }
  return 0;
}
