#include "record/python/python_sampler.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <set>

#include "record/launch/process_tree.h"

namespace fathom::record {
namespace {

constexpr auto kSampleInterval = std::chrono::milliseconds(10);
constexpr std::uint64_t kSamplesPerWalk = 10;
constexpr std::uint64_t kSamplesPerWrite = 100;
constexpr std::uint64_t kLongestPause = 500;  // samples between two looks at what is no Python

std::int64_t raw_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

PythonSampler::PythonSampler(pid_t process, const std::string& part)
    : root_(process), part_(part), thread_([this] { run(); }) {}

PythonSampler::~PythonSampler() {
  stop();
}

PythonOutcome PythonSampler::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
    trace_.end(raw_now_ns());
    write();
    file_.close();
  }
  return outcome_;
}

void PythonSampler::find_processes() {
  const std::vector<pid_t> alive = descendants(root_);
  for (const pid_t pid : alive) {
    Watched& watched = processes_[pid];
    if (!watched.python) watched.python = std::make_unique<PythonProcess>(pid, names_);
    const bool is_found = watched.state == PythonProcess::State::found;
    if (!is_found && ticks_ < watched.next_look) continue;
    watched.state = watched.python->look();
    if (is_found && watched.state != PythonProcess::State::found) trace_.end(pid, 0);
    watched.pause = std::clamp(watched.pause * 2, kSamplesPerWalk, kLongestPause);
    watched.next_look = ticks_ + watched.pause;
    outcome_.found |= watched.state == PythonProcess::State::found;
    outcome_.not_allowed |= watched.state == PythonProcess::State::not_allowed;
    if (watched.state == PythonProcess::State::unknown_version) {
      outcome_.unknown_minor = watched.python->minor();
    }
  }
  const std::set<pid_t> is_alive(alive.begin(), alive.end());
  std::erase_if(processes_, [&](const auto& entry) {
    if (is_alive.contains(entry.first)) return false;
    trace_.end(entry.first, 0);
    return true;
  });
}

void PythonSampler::take_sample() {
  if (ticks_ % kSamplesPerWalk == 0) find_processes();
  for (auto& [pid, watched] : processes_) {
    if (watched.state != PythonProcess::State::found) continue;
    const std::vector<PythonStack> stacks = watched.python->stacks();
    outcome_.samples += stacks.size();
    trace_.add(pid, raw_now_ns(), stacks);
  }
  if (++ticks_ % kSamplesPerWrite == 0) write();
}

// The part is made with the first sample: a program without Python leaves none.
void PythonSampler::write() {
  const std::string bytes = trace_.take();
  if (bytes.empty()) return;
  if (!file_.is_open()) file_.open(part_, std::ios::binary);
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file_.flush();
}

void PythonSampler::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are the waiting thread's business
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!wake_.wait_until(lock, next, [this] { return stopped_; })) {
    lock.unlock();
    take_sample();
    lock.lock();
    next += kSampleInterval;
    const auto now = std::chrono::steady_clock::now();
    if (next < now) {
      outcome_.late += static_cast<std::uint64_t>((now - next) / kSampleInterval) + 1;
      next = now;
    }
  }
}

}  // namespace fathom::record
