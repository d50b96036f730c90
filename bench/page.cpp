// How fast a report of a million spans opens and moves in a browser, and how large it is:
// web/bench/page.mjs measures, on a report made here.

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "ingest_data.h"
#include "trace/read.h"

int main() {
  const std::string trace = fathom::bench::make_plain(400);
  const std::string report = trace + ".html";
  std::size_t spans = 0;
  try {
    spans = fathom::trace::read_trace(trace).spans.size();
  } catch (const fathom::base::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  const std::string made =
      fmt::format("'{}' report '{}' -o '{}' >/dev/null", FATHOM_PROGRAM, trace, report);
  if (std::system(made.c_str()) != 0) return 1;
  const std::string measured =
      fmt::format("cd '{}/web' && node bench/page.mjs '{}' {}", FATHOM_SOURCE_DIR, report, spans);
  return std::system(measured.c_str()) == 0 ? 0 : 1;
}
