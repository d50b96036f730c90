#include "record/launch/passed_signals.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

namespace fathom::record {
namespace {

std::atomic<pid_t> program_of_signals = 0;

void pass_on(int signal, siginfo_t* info, void* /*context*/) {
  const int error = errno;
  const pid_t program = program_of_signals.load();
  if (program > 0 && info->si_code != SI_KERNEL) kill(program, signal);
  errno = error;
}

// Those that would end us: not the ones that are faults of our own, that stop and continue, or that
// do nothing by default.
bool is_passed_on(int signal) {
  constexpr std::array kOthers = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,
                                  SIGABRT, SIGTRAP, SIGSYS,  SIGTSTP, SIGTTIN, SIGTTOU,
                                  SIGCONT, SIGCHLD, SIGURG,  SIGPIPE, SIGXFSZ, SIGWINCH};
  return std::ranges::find(kOthers, signal) == kOthers.end();
}

template <typename F>
void for_each_passed_on(F&& each) {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    const bool is_the_c_librarys = signal >= __SIGRTMIN && signal < SIGRTMIN;
    if (is_passed_on(signal) && !is_the_c_librarys) each(signal);
  }
}

// Said by an error code too, and a full disk or a reader that left must not end us.
struct WriteSignals {
  WriteSignals() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &pipe);
    sigaction(SIGXFSZ, &ignore, &size);
  }
  struct sigaction pipe {};
  struct sigaction size {};
};

const WriteSignals& write_signals() {
  static const WriteSignals before;
  return before;
}

}  // namespace

PassedSignals::PassedSignals() {
  write_signals();
  const auto set = [&](int signal, const struct sigaction& action) {
    Before before{signal, {}};
    if (sigaction(signal, nullptr, &before.action) != 0) return;
    // What we were started to ignore (nohup), the program ignores too.
    const bool is_ignored = before.action.sa_handler == SIG_IGN;
    if (is_ignored && signal != SIGCHLD) return;
    before_.push_back(before);
    sigaction(signal, &action, nullptr);
  };
  struct sigaction pass {};
  pass.sa_sigaction = pass_on;
  pass.sa_flags = SA_SIGINFO;
  for_each_passed_on([&](int signal) { set(signal, pass); });
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  set(SIGCHLD, plain);  // ignored, as some parents leave it, there is nothing to wait for
}

PassedSignals::~PassedSignals() {
  for (const Before& before : before_) sigaction(before.signal, &before.action, nullptr);
}

void PassedSignals::pass_to(pid_t program) {
  program_of_signals = program;
}

void PassedSignals::restore() const {
  for (const Before& before : before_) sigaction(before.signal, &before.action, nullptr);
  sigaction(SIGPIPE, &write_signals().pipe, nullptr);
  sigaction(SIGXFSZ, &write_signals().size, nullptr);
}

SignalsWait::SignalsWait() {
  sigset_t passed_on;
  sigemptyset(&passed_on);
  for_each_passed_on([&](int signal) { sigaddset(&passed_on, signal); });
  pthread_sigmask(SIG_BLOCK, &passed_on, &before_);
}

}  // namespace fathom::record
