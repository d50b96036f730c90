// Any bytes as the parts that the processes of a run left behind: they are joined into one run of
// all their bytes, and that run is read as far as it goes. A part that is whole is read whole,
// whatever stands before it.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "record/launch/run_parts.h"
#include "trace/read.h"

namespace {

namespace fs = std::filesystem;

// A place in memory, for the disk is slow; gone at the end, unless a finding ends it.
struct Folder {
  Folder() : path(fs::exists("/dev/shm") ? "/dev/shm/fathom-fuzz-XXXXXX" : "fuzz-XXXXXX") {
    if (mkdtemp(path.data()) == nullptr) __builtin_trap();
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom;
  static const Folder folder;
  const std::string run = folder.path + "/run.pftrace";
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kBetween = "\n--part--\n";  // between two parts
  try {
    record::RunParts parts(run, true);
    std::size_t bytes = 0;
    std::size_t count = 0;
    for (bool is_last = false; !is_last && count < 8; ++count) {
      const std::size_t end = rest.find(kBetween);
      is_last = end == std::string_view::npos;
      const std::string_view part = rest.substr(0, end);
      rest.remove_prefix(is_last ? rest.size() : end + kBetween.size());
      std::string name = parts.pattern();
      name.replace(name.find("%p"), 2, std::to_string(1000 + count));
      std::ofstream(name, std::ios::binary) << part;
      bytes += part.size();
    }
    const record::JoinedRun joined = parts.join({});
    if (joined.processes != count || !joined.still_going.empty()) __builtin_trap();
    if (fs::file_size(run) != bytes) __builtin_trap();
    const trace::Trace trace = trace::read_trace(parts.readable());
    for (trace::SpanId id = 0; id < trace.spans.size() && id < 16; ++id) (void)trace.args(id);
  } catch (const base::Error&) {
    // A run with nothing in it is told as such.
  }
  return 0;
}
