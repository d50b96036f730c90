#pragma once

#include <string>

#include "base/output.h"
#include "trace/trace.h"

namespace fathom::trace {

enum class OutputFormat { chrome_json, perfetto, profile_json };

// The format that the name of a file asks for. Throws base::Error where it is none we know.
OutputFormat format_of(const std::string& path);

// Writes a trace in the format its name asks for: .json (Chrome; .json.gz and .json.zst packed),
// .pftrace or .perfetto-trace (Perfetto), .profile.json (profile; packed likewise). The file
// appears when it is whole: it is written under another name beside it first. Throws base::Error
// where the name asks for nothing we know, or the file cannot be written. Returns how many spans
// were written: a profile does not hold them all.
std::size_t write_trace(const Trace& trace, const std::string& path);
std::size_t write_trace(const Trace& trace, const std::string& path, OutputFormat format);
std::size_t write_trace(const Trace& trace, base::Output& out, OutputFormat format);

}  // namespace fathom::trace
