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

// Samples resident_bytes on a thread of its own from construction to stop(). A sample that equals
// the one before is left out.
class RssSampler {
 public:
  RssSampler(pid_t process, std::chrono::microseconds interval);
  ~RssSampler();
  RssSampler(const RssSampler&) = delete;
  RssSampler& operator=(const RssSampler&) = delete;

  std::vector<RssSample> stop();

 private:
  void run();

  const pid_t process_;
  const std::chrono::microseconds interval_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::vector<RssSample> samples_;
  std::thread thread_;
};

}  // namespace fathom::record
