#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analyze/compile/compile_findings.h"

// Any text: no crash, and no part of a time that is longer than the whole.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const fathom::analyze::CompileFindings found =
      fathom::analyze::compile_findings({fathom::analyze::read_compile_log(text, "rank_0.log")});
  for (const auto& one : found.logs[0].compilations) {
    for (const auto& phase : one.phases) {
      if (phase && (*phase < 0 || *phase > *one.total_ns)) std::abort();
    }
  }
  return 0;
}
