#pragma once

#include <signal.h>
#include <time.h>

#include <cerrno>

namespace fathom::detail {

// A limit on the size of files, or a pipe that nobody reads, ends our file and not the program: the
// signals for it are taken back.
class WriteSignals {
 public:
  WriteSignals() {
    sigemptyset(&ours_);
    sigaddset(&ours_, SIGXFSZ);
    sigaddset(&ours_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    if (sigismember(&pending, SIGXFSZ) == 1) sigdelset(&ours_, SIGXFSZ);
    if (sigismember(&pending, SIGPIPE) == 1) sigdelset(&ours_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &ours_, &before_);
  }
  ~WriteSignals() {
    constexpr timespec kAtOnce = {0, 0};
    const int error = errno;
    while (failed && sigtimedwait(&ours_, nullptr, &kAtOnce) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;

  bool failed = false;

 private:
  sigset_t ours_{};
  sigset_t before_{};
};

}  // namespace fathom::detail
