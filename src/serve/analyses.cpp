#include "serve/analyses.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "explain/analysis.h"
#include "report/flame_report.h"
#include "report/hta_report.h"
#include "report/memory_report.h"
#include "report/page/run_page.h"
#include "report/run_report.h"
#include "report/timeline_report.h"
#include "trace/read.h"

namespace fathom::serve {
namespace {

// A span's own 49 bytes, and about as much again twice for what the analyses make of it.
constexpr std::size_t kBytesPerSpan = 150;
constexpr std::size_t kRowsPerTable = 10;  // as `fathom hta`

std::size_t bytes_of(const trace::Trace& trace) {
  std::size_t counted = trace.spans.size() * kBytesPerSpan;
  counted += trace.instants.size() * sizeof(trace::Instant);
  counted += trace.memory.size() * sizeof(trace::MemoryEvent);
  for (const trace::Counter& counter : trace.counters) counted += counter.time_ns.size() * 16;
  return counted;
}

// Of a trace that has not been read yet: about as much as its text, which packed is a tenth.
std::size_t expected_bytes(int file, std::size_t stored) {
  constexpr std::size_t kPacked = 10;
  unsigned char begin[2] = {};
  if (pread(file, begin, sizeof begin, 0) != sizeof begin) return stored;
  const bool is_gzip = begin[0] == 0x1F && begin[1] == 0x8B;
  const bool is_zstd = begin[0] == 0x28 && begin[1] == 0xB5;
  const bool is_zip = begin[0] == 'P' && begin[1] == 'K';
  return is_gzip || is_zstd || is_zip ? kPacked * stored : stored;
}

std::string made_of(const explain::Analysis& analysis, Document which) {
  switch (which) {
    case Document::flame:
      return report::to_json(analysis.flame(), analyze::FlameWeight::cpu);
    case Document::memory:
      return to_json(report::make_memory_report(analysis), analysis.trace());
    case Document::timeline:
      return report::to_json(analysis.timeline_stats(), analysis.trace());
    case Document::kernels:
      return to_json(report::make_report(analysis), analysis.trace());
    case Document::hta:
      return to_json(
          report::make_hta_report(analysis.hta({}), std::span(&analysis.suggestions(), 1)),
          kRowsPerTable);
    case Document::page:
      return report::run_page(analysis, {{"server", "{}"}});
  }
  return {};
}

}  // namespace

struct Analyses::Opened {
  FileInfo file;  // as it was when it was opened
  std::mutex working;
  std::unique_ptr<trace::Trace> trace;
  std::unique_ptr<explain::Analysis> analysis;
  std::array<std::shared_ptr<const std::string>, 6> documents;
  std::size_t bytes = 0;  // under the lock of all
};

Analyses::Analyses(const Folder& folder, std::size_t most_bytes)
    : folder_(folder), most_bytes_(most_bytes) {}

Analyses::~Analyses() = default;

std::shared_ptr<const std::string> Analyses::document(const std::string& name, Document which) {
  const OpenFile file = folder_.open(name);
  struct stat now {};
  if (!file.is_open() || fstat(file.get(), &now) != 0) throw NoSuchFile();
  const std::shared_ptr<Opened> opened =
      opened_as(name, {.name = name,
                       .bytes = now.st_size,
                       .modified_ns = now.st_mtim.tv_sec * 1'000'000'000 + now.st_mtim.tv_nsec});
  const std::lock_guard working(opened->working);
  if (!opened->analysis) {
    make_room(expected_bytes(file.get(), static_cast<std::size_t>(now.st_size)));
    opened->trace = std::make_unique<trace::Trace>(trace::read_trace(file.get(), name));
    opened->analysis = std::make_unique<explain::Analysis>(*opened->trace, name);
  }
  auto& document = opened->documents[static_cast<std::size_t>(which)];
  if (!document) document = std::make_shared<std::string>(made_of(*opened->analysis, which));
  std::size_t bytes = bytes_of(*opened->trace);
  for (const auto& each : opened->documents) bytes += each ? each->size() : 0;
  const std::lock_guard guard(lock_);
  opened->bytes = bytes;
  keep_within(most_bytes_);
  return document;
}

// The one that is kept, moved to the front; a new one where it is not, or where the file has
// changed since.
std::shared_ptr<Analyses::Opened> Analyses::opened_as(const std::string& name,
                                                      const FileInfo& now) {
  const std::lock_guard guard(lock_);
  const auto at =
      std::ranges::find_if(kept_, [&](const auto& opened) { return opened->file.name == name; });
  if (at != kept_.end() && (*at)->file.bytes == now.bytes &&
      (*at)->file.modified_ns == now.modified_ns) {
    kept_.splice(kept_.begin(), kept_, at);
    return kept_.front();
  }
  if (at != kept_.end()) kept_.erase(at);
  kept_.push_front(std::make_shared<Opened>());
  kept_.front()->file = now;
  return kept_.front();
}

void Analyses::make_room(std::size_t bytes) {
  const std::lock_guard guard(lock_);
  keep_within(most_bytes_ - std::min(most_bytes_, bytes));
}

// Those that were used longest ago go; one that is being worked on lives until that is done.
void Analyses::keep_within(std::size_t most_bytes) {
  std::size_t sum = 0;
  for (const auto& opened : kept_) sum += opened->bytes;
  while (!kept_.empty() && sum > most_bytes) {
    sum -= kept_.back()->bytes;
    kept_.pop_back();
  }
}

std::size_t Analyses::bytes() const {
  const std::lock_guard guard(lock_);
  std::size_t sum = 0;
  for (const auto& opened : kept_) sum += opened->bytes;
  return sum;
}

std::size_t Analyses::opened() const {
  const std::lock_guard guard(lock_);
  return kept_.size();
}

}  // namespace fathom::serve
