#include "record/launch/rss_sampler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "record/launch/process_tree.h"

namespace fathom::record {
namespace {

constexpr int kReadingsPerWalk = 10;

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

void ProcessTree::find_new() {
  for (const pid_t process : descendants(root_)) {
    const bool is_known = std::any_of(processes_.begin(), processes_.end(),
                                      [&](const Process& known) { return known.pid == process; });
    if (is_known) continue;
    const int statm = open(fmt::format("/proc/{}/statm", process).c_str(), O_RDONLY | O_CLOEXEC);
    if (statm >= 0) processes_.push_back({process, statm});
  }
}

std::int64_t ProcessTree::resident_bytes() {
  if (readings_++ % kReadingsPerWalk == 0) find_new();
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
    : tree_(process), interval_(interval) {
  take_sample();
  thread_ = std::thread([this] { run(); });
}

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

void RssSampler::take_sample() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  const std::int64_t bytes = tree_.resident_bytes();
  const bool is_news = samples_.size() < 2 || samples_.back().bytes != bytes;
  if (bytes > 0 && is_news) {
    samples_.push_back({std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec, bytes});
  }
}

void RssSampler::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are the waiting thread's business
  auto next = std::chrono::steady_clock::now() + interval_;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_until(lock, next, [this] { return stopped_; })) {
    lock.unlock();
    take_sample();
    lock.lock();
    // After a pause longer than the interval (a stopped machine), go on from now.
    next = std::max(next + interval_, std::chrono::steady_clock::now());
  }
}

}  // namespace fathom::record
