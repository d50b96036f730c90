#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "record/python/python_process.h"

namespace fathom::record {

// Samples of Python stacks as spans of a Perfetto trace, written as they come: a function that is
// at its place in one sample and the next was there in between, and a change happened halfway.
class PythonTrace {
 public:
  explicit PythonTrace(const PythonNames& names) : names_(names) {}

  // Stacks of a process at one time (CLOCK_MONOTONIC_RAW). A thread that is missing could not be
  // read, or, if that lasts, runs no Python any more.
  void add(pid_t process, std::int64_t time_ns, const std::vector<PythonStack>& stacks);

  // Ends what is open, all of it or a process's, when it was sampled last if that was later.
  void end(std::int64_t time_ns);
  void end(pid_t process, std::int64_t time_ns);

  // What was written since the last call.
  std::string take();

 private:
  struct Thread {
    std::uint64_t track = 0;
    std::int64_t sampled_ns = 0;
    std::vector<std::uint32_t> open;  // functions, outermost first
  };
  using Id = std::pair<pid_t, pid_t>;  // process and thread

  Thread& thread_of(Id id);
  void change(Thread& thread, std::int64_t time_ns, const std::vector<std::uint32_t>& to);
  void write_event(const Thread& thread, std::int64_t time_ns, const std::uint32_t* function);

  const PythonNames& names_;
  std::size_t named_ = 0;  // names that are in the trace
  std::map<Id, Thread> threads_;
  std::string out_;
};

}  // namespace fathom::record
