#include "record/launch/rss_sampler.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace fathom::record {
namespace {

std::string first_line(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             std::fclose);
  if (!file) return {};
  char text[4096];
  const std::size_t size = std::fread(text, 1, sizeof text - 1, file.get());
  return {text, size};
}

// Second figure of statm: resident pages.
std::int64_t own_bytes(pid_t process) {
  const std::string statm = first_line(fmt::format("/proc/{}/statm", process));
  const std::size_t space = statm.find(' ');
  if (space == std::string::npos) return 0;
  return std::strtoll(statm.c_str() + space, nullptr, 10) * sysconf(_SC_PAGESIZE);
}

}  // namespace

std::int64_t resident_bytes(pid_t process) {
  std::int64_t total = own_bytes(process);
  std::error_code gone;
  const std::string tasks = fmt::format("/proc/{}/task", process);
  for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
    const std::string children = first_line(task.path().string() + "/children");
    const char* at = children.c_str();
    for (char* end = nullptr;; at = end) {
      const long child = std::strtol(at, &end, 10);
      if (end == at) break;
      total += resident_bytes(static_cast<pid_t>(child));
    }
  }
  return total;
}

RssSampler::RssSampler(pid_t process, std::chrono::microseconds interval)
    : process_(process), interval_(interval) {
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
  const std::int64_t bytes = resident_bytes(process_);
  const bool changed = samples_.empty() || samples_.back().bytes != bytes;
  if (bytes > 0 && changed) {
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
