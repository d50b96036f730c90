#include "record/launch/launch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/error.h"
#include "record/launch/rss_sampler.h"

namespace fathom::record {
namespace {

std::int64_t now_ns(clockid_t clock = CLOCK_MONOTONIC_RAW) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::int64_t ns_of(const timeval& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1000;
}

std::atomic<pid_t> child_of_signals = 0;

void pass_on(int signal) {
  const pid_t child = child_of_signals.load();
  if (child > 0) kill(child, signal);
}

// While it lives, signals meant to stop the program do not stop us: there is a run to keep.
class SignalsGoToChild {
 public:
  SignalsGoToChild() {
    set(SIGINT, SIG_IGN, interrupt_);
    set(SIGQUIT, SIG_IGN, quit_);
    set(SIGTERM, pass_on, terminate_);
    set(SIGHUP, pass_on, hang_up_);
    set(SIGCHLD, SIG_DFL,
        child_);  // ignored, as some parents leave it, there is nothing to wait for
  }
  ~SignalsGoToChild() { restore(); }
  SignalsGoToChild(const SignalsGoToChild&) = delete;
  SignalsGoToChild& operator=(const SignalsGoToChild&) = delete;

  // As the caller had them; the child calls it too, before exec.
  void restore() const {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
    sigaction(SIGHUP, &hang_up_, nullptr);
    sigaction(SIGCHLD, &child_, nullptr);
  }

 private:
  static void set(int signal, void (*handler)(int), struct sigaction& before) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigaction(signal, &action, &before);
  }

  struct sigaction interrupt_ {};
  struct sigaction quit_ {};
  struct sigaction terminate_ {};
  struct sigaction hang_up_ {};
  struct sigaction child_ {};
};

// Everything the child needs after fork is ready before it: between fork and exec only
// async-signal-safe calls are allowed.
struct Exec {
  std::vector<std::string> words;
  std::vector<std::string> environment;
  std::vector<char*> argv;
  std::vector<char*> envp;
};

Exec prepare(const std::vector<std::string>& command, const Environment& additions) {
  Exec exec;
  exec.words = command;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    bool replaced = false;
    for (const auto& [name, value] : additions) {
      replaced = replaced ||
                 (text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=');
    }
    if (!replaced) exec.environment.emplace_back(text);
  }
  for (const auto& [name, value] : additions) {
    exec.environment.push_back(name);
    exec.environment.back().append("=").append(value);
  }
  for (std::string& word : exec.words) exec.argv.push_back(word.data());
  for (std::string& entry : exec.environment) exec.envp.push_back(entry.data());
  exec.argv.push_back(nullptr);
  exec.envp.push_back(nullptr);
  return exec;
}

// Holds signals back while it lives, so that none comes before there is a child to pass it to.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t passed_on;
    sigemptyset(&passed_on);
    sigaddset(&passed_on, SIGTERM);
    sigaddset(&passed_on, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &passed_on, &before_);
  }
  ~SignalsWait() { release(); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  void release() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

constexpr std::int64_t kMaxRssUnit = 1024;

std::int64_t own_peak_rss() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * kMaxRssUnit;
}

// Starts the command. A pipe that exec closes tells whether exec worked, and if not, why.
pid_t start(const std::vector<std::string>& command, const Environment& additions,
            const SignalsGoToChild& signals, const SignalsWait& waiting) {
  Exec exec = prepare(command, additions);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) throw base::Error(command[0], std::strerror(errno));
  const pid_t child = fork();
  if (child == 0) {
    signals.restore();
    waiting.release();
    execvpe(exec.argv[0], exec.argv.data(), exec.envp.data());
    const int reason = errno;
    [[maybe_unused]] const ssize_t written = write(report[1], &reason, sizeof reason);
    _exit(127);
  }
  const int fork_error = errno;
  close(report[1]);
  int reason = child < 0 ? fork_error : 0;
  if (child > 0 && read(report[0], &reason, sizeof reason) > 0) waitpid(child, nullptr, 0);
  close(report[0]);
  if (reason == 0) return child;
  throw CannotRun(command[0], reason);
}

}  // namespace

CannotRun::CannotRun(const std::string& command, int reason)
    : base::Error(command, std::string("cannot be run: ") + std::strerror(reason),
                  reason == ENOENT ? "Check the name, or give its path" : ""),
      exit_status(reason == ENOENT ? 127 : 126) {}

Launched launch(const std::vector<std::string>& command, const Environment& environment,
                std::chrono::microseconds memory_interval) {
  Launched launched;
  const std::int64_t own_peak = own_peak_rss();
  const SignalsGoToChild signals;
  launched.ended.begin_unix_ns = now_ns(CLOCK_REALTIME);
  launched.ended.begin_ns = now_ns();
  pid_t child = 0;
  {
    const SignalsWait waiting;
    child = start(command, environment, signals, waiting);
    child_of_signals = child;
  }
  int status = 0;
  rusage usage{};
  {
    RssSampler sampler(child, memory_interval);
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    launched.ended.end_ns = now_ns();
    child_of_signals = 0;
    launched.rss = sampler.stop();
  }
  const std::int64_t peak = usage.ru_maxrss * kMaxRssUnit;
  if (peak > own_peak) launched.kernel_peak_rss = peak;
  launched.ended.cpu_ns = ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
  launched.ended.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  launched.ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return launched;
}

void end_like(const Ended& ended) {
  if (ended.signal == 0) std::exit(ended.exit_status);
  // The core belongs to the program, not to us.
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(ended.signal, SIG_DFL);
  raise(ended.signal);
  std::exit(128 + ended.signal);  // signals that do not kill by default
}

}  // namespace fathom::record
