#pragma once

#include <string>

namespace fathom::bench {

struct TraceFile {
  std::string plain, gz;
};

// A Kineto trace of about this size, made once and kept in the build folder: out of a real one
// where the corpus is at hand, else a made-up one like it.
std::string make_plain(int megabytes);
TraceFile make_trace(int megabytes);

std::string read_file(const std::string& path);

}  // namespace fathom::bench
