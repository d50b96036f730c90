#include "record/launch/rss_sampler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace fathom::record {
namespace {

constexpr int kReadingsPerWalk = 10;

// The ids in /proc/PID/task/TID/children.
std::vector<pid_t> ids_in(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             std::fclose);
  std::vector<pid_t> ids;
  for (pid_t id = 0; file && std::fscanf(file.get(), "%d", &id) == 1;) ids.push_back(id);
  return ids;
}

// Second figure of statm: resident pages. Nothing where the process is gone.
std::optional<std::int64_t> resident_pages(int statm) {
  char text[128];
  const ssize_t size = pread(statm, text, sizeof text - 1, 0);
  if (size <= 0) return std::nullopt;
  text[size] = '\0';
  const char* space = std::strchr(text, ' ');
  if (space == nullptr) return std::nullopt;
  return std::strtoll(space, nullptr, 10);
}

}  // namespace

ProcessTree::~ProcessTree() {
  for (const Process& process : processes_) close(process.statm);
}

void ProcessTree::find_new(pid_t process) {
  const bool is_known = std::any_of(processes_.begin(), processes_.end(),
                                    [&](const Process& known) { return known.pid == process; });
  if (!is_known) {
    const int statm = open(fmt::format("/proc/{}/statm", process).c_str(), O_RDONLY | O_CLOEXEC);
    if (statm < 0) return;
    processes_.push_back({process, statm});
  }
  std::error_code gone;
  for (const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
    for (const pid_t child : ids_in(task.path().string() + "/children")) find_new(child);
  }
}

std::int64_t ProcessTree::resident_bytes() {
  if (readings_++ % kReadingsPerWalk == 0) find_new(root_);
  std::int64_t pages = 0;
  std::erase_if(processes_, [&](const Process& process) {
    const std::optional<std::int64_t> resident = resident_pages(process.statm);
    if (!resident) close(process.statm);
    pages += resident.value_or(0);
    return !resident;
  });
  return pages * sysconf(_SC_PAGESIZE);
}

RssSampler::RssSampler(pid_t process, std::chrono::microseconds interval)
    : process_(process), interval_(interval), thread_([this] { run(); }) {}

RssSampler::~RssSampler() {
  stop();
}

std::vector<RssSample> RssSampler::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  return std::exchange(samples_, {});
}

void RssSampler::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are the waiting thread's business
  ProcessTree tree(process_);
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    lock.unlock();
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    const std::int64_t bytes = tree.resident_bytes();
    lock.lock();
    const bool changed = samples_.empty() || samples_.back().bytes != bytes;
    if (bytes > 0 && changed) {
      samples_.push_back({std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec, bytes});
    }
    next += interval_;
    wake_.wait_until(lock, next, [this] { return stopped_; });
    // After a pause longer than the interval (a stopped machine), go on from now.
    next = std::max(next, std::chrono::steady_clock::now());
  }
}

}  // namespace fathom::record
