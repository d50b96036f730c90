// How fast logs of torch.compile are read. The floor is one thread that visits every line of the
// same text with memchr and looks at its first byte. Each log is repeated to 256 MB.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "analyze/compile/compile_findings.h"
#include "floor.h"

namespace {

using fathom::bench::seconds_of;

constexpr int kRounds = 7;
constexpr std::size_t kBytes = 256'000'000;

std::string file_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string repeated(const std::string& once) {
  std::string text;
  text.reserve(kBytes + once.size());
  while (text.size() < kBytes) text += once;
  return text;
}

std::size_t visit_lines(const std::string& text) {
  std::size_t payload = 0;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    payload += *at == '\t' ? 1U : 0U;
    const void* const next = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
    if (next == nullptr) break;
    at = static_cast<const char*>(next) + 1;
  }
  return payload;
}

void measure(const std::string& path) {
  const std::string text = repeated(file_text(path));
  const double mb = static_cast<double>(text.size()) / 1e6;
  double floor = std::numeric_limits<double>::max();
  double ours = floor;
  std::size_t seen = 0;
  for (int round = 0; round < kRounds; ++round) {  // in turn, so that both see the same machine
    floor = std::min(floor, seconds_of([&] { seen += visit_lines(text); }));
    ours = std::min(ours, seconds_of([&] {
                      seen += fathom::analyze::compile_findings(
                                  {fathom::analyze::read_compile_log(text, "bench.log")})
                                  .compilations;
                    }));
  }
  fathom::bench::print_line(path.substr(path.rfind('/') + 1), mb / ours, mb / floor, "MB/s");
  if (seen == 0) fmt::print("nothing was read\n");
}

}  // namespace

// The project's own small log, and those of the corpus where it is.
int main(int argc, char** argv) {
  std::vector<std::string> logs(argv + 1, argv + argc);
  const std::string source = FATHOM_SOURCE_DIR;
  const std::string corpus = source + "/../shared/corpus/torch_trace/";
  if (logs.empty()) {
    logs.push_back(source + "/fuzz/corpus/compile_log/break_and_recompile.log");
    for (const char* name : {"simple.log", "cache_hit_miss.log", "artifacts.log"}) {
      if (std::filesystem::exists(corpus + name)) logs.push_back(corpus + name);
    }
  }
  for (const std::string& log : logs) measure(log);
  return 0;
}
