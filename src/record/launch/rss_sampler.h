#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "record/launch/launch.h"

namespace fathom::record {

// Resident memory of a process and all its descendants, read from /proc. 0 once they are gone.
std::int64_t resident_bytes(pid_t process);

// Samples resident_bytes: at once, for a program may be over before a thread has begun, then on a
// thread of its own until stop(). A sample that equals the one before is left out.
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

  const pid_t process_;
  const std::chrono::microseconds interval_;
  std::vector<RssSample> samples_;  // the thread's own, until it has ended
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace fathom::record
