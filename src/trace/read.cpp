#include "trace/read.h"

#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/shell_word.h"
#include "trace/read/chrome/chrome.h"
#include "trace/read/input.h"
#include "trace/read/nsys/nsys.h"
#include "trace/read/perfetto/perfetto.h"
#include "trace/read/profile/profile_json.h"
#include "trace/read/snapshot/snapshot.h"
#include "trace/read/sniff.h"
#include "trace/strays.h"

namespace fathom::trace {
namespace {

// Of a file that is no trace, what to do about it. Its name tells only where its content does not.
[[noreturn]] void refuse(const std::string& path, const Sniffed& found) {
  const bool is_named_nsys = path.ends_with(".nsys-rep") || path.ends_with(".qdrep");
  if (!found.is_recognised && is_named_nsys) {
    throw base::Error(path, "not a trace: " + std::string(found.what),
                      "Export it first: nsys export --type sqlite " + base::shell_word(path));
  }
  if (!found.is_recognised && path.ends_with(".ncu-rep")) {
    throw base::Error(path, "Nsight Compute reports are not supported",
                      std::string("Fathom reads ") + kFormatsRead);
  }
  throw base::Error(path, "not a trace: " + std::string(found.what),
                    std::string("Fathom reads ") + kFormatsRead);
}

Trace read_as_it_is(const std::shared_ptr<const Input>& input) {
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
  refuse(input->name(), found);
}

void refuse_if_cut(const Input& input) {
  if (input.was_cut()) {
    throw base::Error(input.name(), "became shorter while it was read",
                      "Something writes to it: read it again when that is done");
  }
}

Trace read_whole(const std::shared_ptr<const Input>& input) {
  Trace trace = read_as_it_is(input);
  refuse_if_cut(*input);
  if (trace.args_at) {
    trace.args_at = [input, args_at = std::move(trace.args_at)](std::uint64_t source) {
      std::string args = args_at(source);
      refuse_if_cut(*input);
      return args;
    };
  }
  set_aside_strays(trace);
  set_aside_impossible_bytes(trace);
  set_aside_impossible_times(trace);
  return trace;
}

}  // namespace

Trace read_trace(const std::string& path) {
  return read_whole(Input::open(path));
}

Trace read_trace(int descriptor, const std::string& name) {
  return read_whole(Input::open(descriptor, name));
}

}  // namespace fathom::trace
