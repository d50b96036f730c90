#include "trace/read.h"

#include <string_view>

#include "base/error.h"
#include "trace/read/chrome.h"
#include "trace/read/input.h"
#include "trace/read/sniff.h"

namespace fathom::trace {
namespace {

constexpr const char* kWhatFathomReads =
    "Fathom reads Kineto/Chrome JSON (.gz, .zst), Perfetto and its own profiles.";

}  // namespace

Trace read_trace(const std::string& path) {
  const std::shared_ptr<const Input> input = Input::open(path);
  const Sniffed found = sniff(input->head());
  switch (found.format) {
    case Format::chrome_json:
      return read_chrome(input);
    case Format::perfetto:
      throw base::Error(path, "Perfetto traces cannot be read yet");
    case Format::profile_json:
      throw base::Error(path, "profile JSON cannot be read yet");
    case Format::foreign:
      break;
  }
  throw base::Error(path, "not a trace: " + std::string(found.what), kWhatFathomReads);
}

}  // namespace fathom::trace
