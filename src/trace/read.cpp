#include "trace/read.h"

#include <string_view>

#include "base/error.h"
#include "base/shell_word.h"
#include "trace/read/chrome/chrome.h"
#include "trace/read/input.h"
#include "trace/read/nsys/nsys.h"
#include "trace/read/perfetto/perfetto.h"
#include "trace/read/profile/profile_json.h"
#include "trace/read/snapshot/snapshot.h"
#include "trace/read/sniff.h"

namespace fathom::trace {
namespace {

constexpr const char* kWhatFathomReads =
    "Fathom reads Kineto/Chrome JSON (.gz, .zst), Perfetto, Nsight Systems SQLite, "
    "PyTorch memory snapshots and its own profiles.";

// Of a file that is none of these: what to do about it.
std::string hint_for(const std::string& path) {
  if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep")) {
    return "Export it first: nsys export --type sqlite " + base::shell_word(path);
  }
  return kWhatFathomReads;
}

}  // namespace

Trace read_trace(const std::string& path) {
  const std::shared_ptr<const Input> input = Input::open(path);
  const Sniffed found = sniff(input->head());
  switch (found.format) {
    case Format::chrome_json:
      return read_chrome(input);
    case Format::perfetto:
      return read_perfetto(input->view(), input);
    case Format::profile_json:
      return read_profile_json(input->view(), input);
    case Format::sqlite:
      return read_nsys(input);
    case Format::pickle:
      return read_snapshot(input);
    case Format::foreign:
      break;
  }
  throw base::Error(path, "not a trace: " + std::string(found.what), hint_for(path));
}

}  // namespace fathom::trace
