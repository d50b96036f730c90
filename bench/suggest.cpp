// How long suggesting takes, from the file to all its gains, against reading the same file alone.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "advise/suggest.h"
#include "floor.h"
#include "ingest_data.h"
#include "trace/read.h"

namespace {

using fathom::bench::print_line;
using fathom::bench::seconds_of;

constexpr int kRounds = 9;

}  // namespace

int main() {
  const std::string file = fathom::bench::make_plain(300);
  double reading = 1e9;
  double whole = 1e9;
  std::size_t spans = 0;
  std::size_t suggestions = 0;
  for (int round = 0; round < kRounds; ++round) {
    reading = std::min(reading,
                       seconds_of([&] { spans = fathom::trace::read_trace(file).spans.size(); }));
    whole = std::min(whole, seconds_of([&] {
                       const fathom::trace::Trace trace = fathom::trace::read_trace(file);
                       suggestions = fathom::advise::suggest(trace).list.size();
                     }));
  }
  fmt::print("{:.0f} MB, {} spans, {} suggestions\n",
             static_cast<double>(std::filesystem::file_size(file)) / 1e6, spans, suggestions);
  print_line("suggest", whole, reading, "s");
  return 0;
}
