#include "trace/write.h"

#include <string_view>

#include "base/error.h"
#include "trace/write/formats.h"

namespace fathom::trace {

OutputFormat format_of(const std::string& path) {
  std::string_view name = path;
  const bool is_packed = name.ends_with(".gz") || name.ends_with(".zst");
  if (name.ends_with(".gz")) name.remove_suffix(3);
  if (name.ends_with(".zst")) name.remove_suffix(4);
  if (name.ends_with(".profile.json")) return OutputFormat::profile_json;
  if (name.ends_with(".json")) return OutputFormat::chrome_json;
  if (!is_packed && (name.ends_with(".pftrace") || name.ends_with(".perfetto-trace"))) {
    return OutputFormat::perfetto;
  }
  throw base::Error(path, "the file name does not say which format to write",
                    "Use a name that ends in .pftrace or .perfetto-trace (Perfetto), .json, "
                    ".json.gz or .json.zst "
                    "(Chrome), .profile.json, .profile.json.gz or .profile.json.zst (profile)");
}

std::size_t write_trace(const Trace& trace, const std::string& path) {
  return write_trace(trace, path, format_of(path));
}

std::size_t write_trace(const Trace& trace, const std::string& path, OutputFormat format) {
  base::Output out(path);
  return write_trace(trace, out, format);
}

std::size_t write_trace(const Trace& trace, base::Output& out, OutputFormat format) {
  std::size_t spans = trace.spans.size();
  switch (format) {
    case OutputFormat::chrome_json:
      write_chrome_json(trace, out);
      break;
    case OutputFormat::perfetto:
      write_perfetto(trace, out);
      break;
    case OutputFormat::profile_json:
      spans = write_profile_json(trace, out);
      break;
  }
  out.finish();
  return spans;
}

}  // namespace fathom::trace
