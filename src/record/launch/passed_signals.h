#pragma once

#include <sys/types.h>

#include <csignal>
#include <vector>

namespace fathom::record {

// While it lives, signals that would end this process go to the program it recorded, or are dropped
// where there is none: there is a run to keep. What the kernel itself sends (Ctrl-C, Ctrl-\, a
// terminal that hangs up) has reached the program already and is not sent twice. From the first one
// on, for good, a write that fails is an error and no signal.
class PassedSignals {
 public:
  PassedSignals();
  ~PassedSignals();
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;

  static void pass_to(pid_t program);  // 0 for nobody

  // All of them as this process was given them. For a child before exec: async-signal-safe.
  void restore() const;

 private:
  struct Before {
    int signal;
    struct sigaction action;
  };
  std::vector<Before> before_;
};

// Holds back the signals that are passed on, so that none comes before there is a program to pass
// it to.
class SignalsWait {
 public:
  SignalsWait();
  ~SignalsWait() { release(); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  void release() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace fathom::record
