#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "record/launch/launch.h"

namespace fathom::record {

// Resident memory of a process and all its descendants, read from /proc. Their files stay open from
// one reading to the next, and the tree is walked again only every few readings: a sample then
// costs a few microseconds, which programs that wake threads all the time would notice otherwise.
class ProcessTree {
 public:
  explicit ProcessTree(pid_t root) : root_(root) {}
  ~ProcessTree();
  ProcessTree(const ProcessTree&) = delete;
  ProcessTree& operator=(const ProcessTree&) = delete;

  // 0 once all are gone.
  std::int64_t resident_bytes();

 private:
  struct Process {
    pid_t pid;
    int statm;  // file descriptor
  };
  void find_new();

  const pid_t root_;
  int readings_ = 0;
  std::vector<Process> processes_;
};

// Samples the resident memory of a process and its descendants: at once, for a program may be over
// before a thread has begun, then on a thread of its own until stop(). From the third on, a sample
// that equals the one before is left out; the second says that the program was there that long.
class RssSampler {
 public:
  RssSampler(pid_t process, std::chrono::microseconds interval);
  ~RssSampler();
  RssSampler(const RssSampler&) = delete;
  RssSampler& operator=(const RssSampler&) = delete;

  std::vector<RssSample> stop();

 private:
  void run();
  void take_sample();

  ProcessTree tree_;
  const std::chrono::microseconds interval_;
  std::vector<RssSample> samples_;  // the thread's own, until it has ended
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace fathom::record
