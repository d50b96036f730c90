#include "record/launch/launch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/error.h"
#include "record/launch/rss_sampler.h"
#include "record/python/python_sampler.h"

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

constexpr std::int64_t kMaxRssUnit = 1024;

std::int64_t own_peak_rss() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * kMaxRssUnit;
}

// Starts the command. A pipe that exec closes tells whether exec worked, and if not, why.
pid_t start(const std::vector<std::string>& command, const Environment& additions,
            const PassedSignals& signals, const SignalsWait& waiting) {
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
                std::chrono::microseconds memory_interval, const PassedSignals& signals,
                const std::string& python_part) {
  Launched launched;
  const std::int64_t own_peak = own_peak_rss();
  launched.ended.begin_unix_ns = now_ns(CLOCK_REALTIME);
  launched.ended.begin_ns = now_ns();
  pid_t child = 0;
  {
    const SignalsWait waiting;
    child = start(command, environment, signals, waiting);
    PassedSignals::pass_to(child);
  }
  int status = 0;
  rusage usage{};
  {
    RssSampler sampler(child, memory_interval);
    std::optional<PythonSampler> python;
    if (!python_part.empty()) python.emplace(child, python_part);
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    launched.ended.end_ns = now_ns();
    PassedSignals::pass_to(0);
    launched.rss = sampler.stop();
    if (python) launched.python = python->stop();
  }
  const std::int64_t peak = usage.ru_maxrss * kMaxRssUnit;
  if (peak > own_peak) launched.kernel_peak_rss = peak;
  launched.ended.cpu_ns = ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
  launched.ended.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  launched.ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return launched;
}

void hold_standard_descriptors() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) {
    descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  if (descriptor >= 0) close(descriptor);
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
