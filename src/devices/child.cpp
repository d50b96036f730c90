#include "devices/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

extern char** environ;

namespace fathom::devices {
namespace {

using ChildClock = std::chrono::steady_clock;
constexpr std::size_t kMostText = 1 << 20;

// How a call that could hang in the driver is waited for after it was killed: it may not die.
constexpr std::chrono::milliseconds kPatienceWithDead{200};

struct Pipe {
  Pipe() { is_open = ::pipe2(ends.data(), O_CLOEXEC) == 0; }
  ~Pipe() {
    if (is_open) ::close(ends[0]);
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_writer() {
    if (is_open && ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }

  std::array<int, 2> ends{-1, -1};
  bool is_open = false;
};

// True once it has ended; false when the time is over.
bool ends_until(pid_t child, ChildClock::time_point end, bool& has_succeeded) {
  std::chrono::milliseconds pause{1};
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) {
      has_succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      return true;
    }
    if (ended < 0 && errno != EINTR) return true;  // somebody else waited for it
    if (ChildClock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(16));
  }
}

// True at the end of the text; false when the time is over, or the text is too long.
bool read_until(int file, ChildClock::time_point end, std::string& text) {
  std::array<char, 4096> piece;
  while (text.size() < kMostText) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - ChildClock::now()).count();
    if (left <= 0) return false;
    pollfd wait_for{file, POLLIN, 0};
    if (::poll(&wait_for, 1, static_cast<int>(left)) < 0 && errno != EINTR) return false;
    if (wait_for.revents == 0) continue;
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return false;
}

// Takes what the child says, and sees to it that it ends, with all that it started.
ChildOutput collect(pid_t child, Pipe& pipe, std::chrono::milliseconds at_most) {
  ChildOutput output;
  output.has_started = true;
  pipe.close_writer();
  const ChildClock::time_point end = ChildClock::now() + at_most;
  output.was_in_time = read_until(pipe.ends[0], end, output.text);
  if (output.was_in_time && ends_until(child, end, output.has_succeeded)) return output;
  ::kill(-child, SIGKILL);
  bool ignored = false;
  ends_until(child, ChildClock::now() + kPatienceWithDead, ignored);
  return output;
}

}  // namespace

ChildOutput run_program(const std::vector<std::string>& words, std::chrono::milliseconds at_most) {
  Pipe pipe;
  if (!pipe.is_open) return {};
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, pipe.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setpgroup(&how, 0);  // of its own, so that all of it can be ended
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  pid_t child = -1;
  const int problem = ::posix_spawn(&child, arguments[0], &files, &how, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  if (problem != 0) return {};
  return collect(child, pipe, at_most);
}

ChildOutput run_copy(const std::function<std::string()>& work, std::chrono::milliseconds at_most) {
  Pipe pipe;
  if (!pipe.is_open) return {};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(nowhere, standard);
    }
    std::string text;
    try {
      text = work();
    } catch (...) {
      ::_exit(1);
    }
    std::size_t written = 0;
    while (written < text.size()) {
      const ssize_t now = ::write(pipe.ends[1], text.data() + written, text.size() - written);
      if (now <= 0) ::_exit(1);
      written += static_cast<std::size_t>(now);
    }
    ::_exit(0);
  }
  ::setpgid(child, child);  // whoever of the two is first
  return collect(child, pipe, at_most);
}

}  // namespace fathom::devices
