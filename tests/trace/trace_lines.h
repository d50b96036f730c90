#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace fathom::trace::testing {

// Everything in a trace that a conversion must keep, as sorted lines of text that do not depend on
// the order of tracks, so that two traces are the same if their lines are. Nesting is there as the
// number of a span's parent within its track.
std::vector<std::string> lines_of(const Trace& trace);

// The first lines that one of the traces has and the other has not; empty where they are the same.
std::string difference(const Trace& expected, const Trace& actual);

// A place for a file that is gone when the test is over; `name` says how it ends.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  std::string bytes() const;

 private:
  std::string path_;
};

}  // namespace fathom::trace::testing
