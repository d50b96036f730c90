#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "record/python/python_outcome.h"
#include "record/python/python_process.h"
#include "record/python/python_trace.h"

namespace fathom::record {

// Samples the Python stacks of a process and its descendants, a hundred times per second, and
// writes them to a part of the run (run_parts.h) once per second. Works from outside, on a thread
// of ours: the program has no thread, no module and no variable more than without it.
class PythonSampler {
 public:
  PythonSampler(pid_t process, const std::string& part);
  ~PythonSampler();
  PythonSampler(const PythonSampler&) = delete;
  PythonSampler& operator=(const PythonSampler&) = delete;

  PythonOutcome stop();

 private:
  void run();
  void find_processes();
  void take_sample();
  void write();

  const pid_t root_;
  const std::string part_;
  std::ofstream file_;
  PythonNames names_;
  PythonTrace trace_{names_};
  struct Watched {
    std::unique_ptr<PythonProcess> python;
    PythonProcess::State state = PythonProcess::State::none;
    std::uint64_t next_look = 0;  // by the number of the sample: rarer, the longer there is none
    std::uint64_t pause = 0;
  };
  std::map<pid_t, Watched> processes_;
  std::uint64_t ticks_ = 0;
  PythonOutcome outcome_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace fathom::record
