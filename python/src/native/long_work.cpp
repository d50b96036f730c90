#include "native/long_work.h"

#include <pthread.h>
#include <pybind11/pybind11.h>
#include <pythread.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace fathom::python {
namespace py = pybind11;
namespace {

constexpr auto kLook = std::chrono::milliseconds(20);

struct Task {
  std::function<void()> work;
  std::exception_ptr problem;
  bool is_done = false;
};

struct Tasks {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t running = 0;
};

Tasks* all_tasks = new Tasks;  // never destroyed: abandoned work may outlive this library's statics

Tasks& tasks() {
  return *all_tasks;
}

void run(Task& task) {
  try {
    task.work();
  } catch (...) {
    task.problem = std::current_exception();
  }
  task.work = nullptr;
  const std::lock_guard lock(tasks().mutex);
  task.is_done = true;
  --tasks().running;
  tasks().changed.notify_all();
}

void begin(const std::shared_ptr<Task>& task) {
  {
    const std::lock_guard lock(tasks().mutex);
    ++tasks().running;
  }
  std::thread([task] { run(*task); }).detach();
}

bool wait_a_little(const Task& task) {
  const py::gil_scoped_release released;
  std::unique_lock lock(tasks().mutex);
  return tasks().changed.wait_for(lock, kLook, [&] { return task.is_done; });
}

// Only there does Python run what handles a signal.
bool is_main_thread() {
  const auto main =  // asked each time: a child's may be another thread than its parent's
      py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
  return PyThread_get_thread_ident() == main;
}

// Until work that nobody waits for any more is done.
void wait_for_abandoned_work() {
  const py::gil_scoped_release released;
  std::unique_lock lock(tasks().mutex);
  tasks().changed.wait(lock, [] { return tasks().running == 0; });
}

}  // namespace

void do_long_work(std::function<void()> work) {
  if (!is_main_thread()) {
    const py::gil_scoped_release released;
    work();
    return;
  }
  const auto task = std::make_shared<Task>();
  task->work = std::move(work);
  begin(task);
  while (!wait_a_little(*task)) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  if (task->problem) std::rethrow_exception(task->problem);
}

void finish_long_work_at_exit() {
  // A child has none of the threads that work, and the lock as one of them may have left it.
  pthread_atfork(nullptr, nullptr, [] { all_tasks = new Tasks; });
  py::module_::import("atexit").attr("register")(py::cpp_function(wait_for_abandoned_work));
}

}  // namespace fathom::python
