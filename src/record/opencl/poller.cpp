#include "record/opencl/poller.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include "record/opencl/calls.h"
#include "record/opencl/commands_in_flight.h"
#include "record/opencl/devices.h"
#include "record/opencl/forever.h"
#include "record/opencl/memory.h"
#include "record/opencl/names.h"
#include "record/opencl/queues.h"
#include "record/opencl/sink.h"

namespace fathom::record::opencl {
namespace {

constexpr long kPollEveryNs = 10'000'000;
constexpr std::size_t kStackBytes = 1 << 20;  // releasing an event can free much of the driver's
constexpr int kExitTries = 100;               // of a millisecond, for a drain that is under way

struct Poller {
  std::atomic<bool> running = false;
  std::atomic<bool> exiting = false;
  std::mutex start;
  std::mutex busy;  // held while the thread is inside the driver
  bool process_known = false;
};

Forever<Poller> poller;

void sleep_ns(long ns) {
  const timespec pause = {0, ns};
  nanosleep(&pause, nullptr);
}

void* poll(void* /*unused*/) noexcept {
  pthread_setname_np(pthread_self(), "fathom-opencl");
  while (!poller->exiting.load()) {
    sleep_ns(kPollEveryNs);
    const std::lock_guard guard(poller->busy);
    if (!poller->exiting.load()) drain_all();
  }
  return nullptr;
}

// The driver may be torn down by handlers of its own after this, so the thread must not call it
// any more. Calls that the program makes later are still recorded.
void at_exit() {
  poller->exiting.store(true);
  bool quiet = poller->busy.try_lock();
  for (int i = 0; !quiet && i < kExitTries; ++i) {
    sleep_ns(1'000'000);
    quiet = poller->busy.try_lock();
  }
  if (quiet) {
    drain_all();
    poller->busy.unlock();
  }
}

void before_fork() {
  poller->start.lock();
  lock_memory();
  lock_queues();
  lock_commands_in_flight();
  lock_devices();
  lock_names();
}

void unlock_all(bool in_child) {
  unlock_names();
  unlock_devices();
  unlock_commands_in_flight();
  unlock_queues(in_child);
  unlock_memory();
  poller->start.unlock();
}

void after_fork_in_parent() {
  unlock_all(false);
}

void after_fork_in_child() {
  forget_thread_id();
  poller->running.store(false);
  new (&poller->busy) std::mutex;  // whoever held it is not in this process
  unlock_all(true);
}

// Signals are the program's: none of them is taken by our thread.
bool start_thread() noexcept {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread = {};
  const int failed = pthread_create(&thread, &attributes, poll, nullptr);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return failed == 0;
}

}  // namespace

void ensure_poller() noexcept {
  if (poller->running.load(std::memory_order_relaxed)) [[likely]]
    return;
  const std::lock_guard guard(poller->start);
  if (poller->running.load() || poller->exiting.load()) return;
  if (!poller->process_known) {
    poller->process_known = true;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    std::atexit(at_exit);
  }
  poller->running.store(start_thread());
}

}  // namespace fathom::record::opencl
