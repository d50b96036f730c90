// Modes about commands: what is enqueued, on which kind of queue, and when it can run.

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "record/opencl/opencl_program.h"

namespace opencl_program {
namespace {

void print_first(cl_command_queue queue, cl_mem buffer) {
  float first = 0;
  CHECK_CL(
      clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof first, &first, 0, nullptr, nullptr));
  std::printf("first %g\n", first);
}

void fill(cl_command_queue queue, cl_mem buffer, float value) {
  CHECK_CL(
      clEnqueueFillBuffer(queue, buffer, &value, sizeof value, 0, kBytes, 0, nullptr, nullptr));
}

void in_order() {
  const Setup cl;
  cl_command_queue const queue = cl.queue();
  cl_mem const a = cl.buffer();
  cl_mem const b = cl.buffer();
  cl_kernel const twice = cl.kernel("twice");
  cl_kernel const add_one = cl.kernel("add_one");
  std::vector<float> host(kItems, 1.5F);
  CHECK_CL(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, kBytes, host.data(), 0, nullptr, nullptr));
  for (int i = 0; i < 200; ++i) {
    run(queue, twice, a);
    run(queue, add_one, a);
    fill(queue, a, 1);
  }
  CHECK_CL(clEnqueueCopyBuffer(queue, a, b, 0, 0, kBytes, 0, nullptr, nullptr));
  const std::array<std::size_t, 3> origin = {0, 0, 0};
  const std::array<std::size_t, 3> region = {64, 8, 2};
  CHECK_CL(clEnqueueCopyBufferRect(queue, a, b, origin.data(), origin.data(), region.data(), 64,
                                   512, 64, 512, 0, nullptr, nullptr));
  CHECK_CL(clEnqueueReadBufferRect(queue, b, CL_FALSE, origin.data(), origin.data(), region.data(),
                                   64, 512, 64, 512, host.data(), 0, nullptr, nullptr));
  CHECK_CL(clEnqueueWriteBufferRect(queue, b, CL_FALSE, origin.data(), origin.data(), region.data(),
                                    64, 512, 64, 512, host.data(), 0, nullptr, nullptr));
  CHECK_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, nullptr));
  CHECK_CL(clEnqueueBarrierWithWaitList(queue, 0, nullptr, nullptr));
  CHECK_CL(clEnqueueMigrateMemObjects(queue, 1, &a, 0, 0, nullptr, nullptr));
  print_first(queue, b);
  CHECK_CL(clFinish(queue));
  truth("kernel", "twice", 200);
  truth("kernel", "add_one", 200);
  truth("fill", "FillBuffer", 200, kBytes);
  truth("copy", "WriteBuffer", 1, kBytes);
  truth("copy", "CopyBuffer", 1, kBytes);
  truth("copy", "CopyBufferRect", 1, 1024);
  truth("copy", "ReadBufferRect", 1, 1024);
  truth("copy", "WriteBufferRect", 1, 1024);
  truth("copy", "ReadBuffer", 1, sizeof(float));
  CHECK_CL(clReleaseMemObject(a));
  CHECK_CL(clReleaseMemObject(b));
  CHECK_CL(clReleaseKernel(twice));
  CHECK_CL(clReleaseKernel(add_one));
  CHECK_CL(clReleaseCommandQueue(queue));
  cl.release();
}

void out_of_order() {
  const Setup cl;
  cl_command_queue const queue = cl.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_kernel const slow = cl.kernel("slow");
  std::array<cl_mem, 4> buffers = {};
  for (cl_mem& buffer : buffers) {
    buffer = cl.buffer();
    fill(queue, buffer, 1);
  }
  CHECK_CL(clFinish(queue));
  std::vector<cl_event> events(40);
  for (std::size_t i = 0; i < events.size(); ++i) {
    run(queue, slow, buffers[i % 4], &events[i],
        i < 4 ? std::vector<cl_event>{} : std::vector{events[i - 4]});
  }
  CHECK_CL(clWaitForEvents(static_cast<cl_uint>(events.size()), events.data()));
  for (cl_event const event : events) CHECK_CL(clReleaseEvent(event));
  truth("kernel", "slow", 40);
  truth("fill", "FillBuffer", 4, kBytes);
  std::printf("done\n");
}

// Half of the work waits for an event that is never set: the other half must be recorded.
void user_event() {
  const Setup cl;
  cl_command_queue const queue = cl.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_command_queue const blocked = cl.queue();
  cl_mem const buffer = cl.buffer();
  cl_mem const other = cl.buffer();
  cl_kernel const twice = cl.kernel("twice");
  cl_kernel const add_one = cl.kernel("add_one");
  cl_int status = CL_SUCCESS;
  cl_event const gate = clCreateUserEvent(cl.context, &status);
  CHECK_CL(status);
  std::vector<cl_event> free_to_run(10);
  for (cl_event& event : free_to_run) {
    run(queue, add_one, other, nullptr, {gate});
    run(blocked, add_one, other, nullptr, {gate});
    run(queue, twice, buffer, &event);
  }
  CHECK_CL(clFlush(queue));
  CHECK_CL(clWaitForEvents(10, free_to_run.data()));
  truth("kernel", "twice", 10);
  truth("kernel", "add_one", 0);
  std::printf("done\n");
  std::fflush(stdout);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  _exit(0);  // a driver's exit handlers may wait for the gate
}

void user_event_set() {
  const Setup cl;
  cl_command_queue const queue = cl.queue();
  cl_mem const buffer = cl.buffer();
  cl_kernel const twice = cl.kernel("twice");
  cl_int status = CL_SUCCESS;
  cl_event const gate = clCreateUserEvent(cl.context, &status);
  CHECK_CL(status);
  for (int i = 0; i < 100; ++i) run(queue, twice, buffer, nullptr, {gate});
  CHECK_CL(clFlush(queue));
  CHECK_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  CHECK_CL(clFinish(queue));
  truth("kernel", "twice", 100);
  std::printf("done\n");
}

// A gate that fails takes what waits for it along: no error of the recorder's making.
void failed_event() {
  const Setup cl;
  cl_command_queue const queue = cl.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_mem const buffer = cl.buffer();
  cl_kernel const twice = cl.kernel("twice");
  cl_kernel const add_one = cl.kernel("add_one");
  cl_int status = CL_SUCCESS;
  cl_event const gate = clCreateUserEvent(cl.context, &status);
  CHECK_CL(status);
  cl_event failed = nullptr;
  run(queue, add_one, buffer, &failed, {gate});
  CHECK_CL(clFlush(queue));
  CHECK_CL(clSetUserEventStatus(gate, -42));
  std::printf("wait %d\n", clWaitForEvents(1, &failed));
  cl_int execution = 0;
  CHECK_CL(clGetEventInfo(failed, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof execution, &execution,
                          nullptr));
  std::printf("execution failed %d\n", execution < 0 ? 1 : 0);
  run(queue, twice, buffer);
  CHECK_CL(clFinish(queue));
  truth("kernel", "twice", 1);
  truth("failed", "add_one", 1);
}

// Source that no compiler takes: at once, and in the background.
void failed_build(const char* source = "kernel void wrong() { this_is_not_declared(); }") {
  const Setup cl;
  cl_int status = 0;
  for (const bool in_background : {false, true}) {
    cl_program const program = clCreateProgramWithSource(cl.context, 1, &source, nullptr, &status);
    CHECK_CL(status);
    static std::atomic<bool> over;
    over = false;
    const auto notify = [](cl_program, void*) { over = true; };
    status = clBuildProgram(program, 1, &cl.device, "", in_background ? +notify : nullptr, nullptr);
    for (int i = 0; in_background && !over && i < 500; ++i) usleep(10'000);
    std::printf("build failed %d\n", in_background || status != CL_SUCCESS ? 1 : 0);
    CHECK_CL(clReleaseProgram(program));
  }
}

void failed_enqueue() {
  const Setup cl;
  cl_command_queue const queue = cl.queue();
  cl_mem const buffer = cl.buffer();
  cl_kernel const twice = cl.kernel("twice");
  const std::size_t global = 10;
  const std::size_t local = 3;  // does not divide it, and a kernel built for 1.2 needs it to
  CHECK_CL(clSetKernelArg(twice, 0, sizeof buffer, &buffer));
  std::printf("dimensions %d\n", clEnqueueNDRangeKernel(queue, twice, 9, nullptr, &global, &local,
                                                        0, nullptr, nullptr));
  std::printf("queue %d\n", clEnqueueNDRangeKernel(nullptr, twice, 1, nullptr, &global, nullptr, 0,
                                                   nullptr, nullptr));
  float host = 0;
  std::printf("range %d\n",
              clEnqueueReadBuffer(queue, buffer, CL_TRUE, kBytes, 4, &host, 0, nullptr, nullptr));
  cl_int status = 0;
  void* const mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, kBytes, 4, 0,
                                          nullptr, nullptr, &status);
  std::printf("map %d %d\n", mapped == nullptr ? 1 : 0, status);
  run(queue, twice, buffer);
  CHECK_CL(clFinish(queue));
  truth("kernel", "twice", 1);
}

void threads() {
  const Setup cl;
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&cl] {
      cl_command_queue const queue = cl.queue();
      cl_kernel const kernel = cl.kernel("twice");
      cl_mem const buffer = cl.buffer();
      for (int k = 0; k < 500; ++k) run(queue, kernel, buffer);
      CHECK_CL(clFinish(queue));
      CHECK_CL(clReleaseMemObject(buffer));
      CHECK_CL(clReleaseKernel(kernel));
      CHECK_CL(clReleaseCommandQueue(queue));
    });
  }
  cl_command_queue const shared = cl.queue();
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&cl, shared] {
      cl_kernel const kernel = cl.kernel("add_one");
      cl_mem const buffer = cl.buffer();
      for (int k = 0; k < 250; ++k) run(shared, kernel, buffer);
      CHECK_CL(clFinish(shared));
    });
  }
  for (std::thread& worker : workers) worker.join();
  truth("kernel", "twice", 2000);
  truth("kernel", "add_one", 1000);
  std::printf("done\n");
}

// Many enqueue while one finishes, on a queue in order and on one without.
void enqueue_and_finish() {
  const Setup cl;
  const std::array<cl_command_queue, 2> queues = {cl.queue(),
                                                  cl.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)};
  std::atomic<int> busy = 4;
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      cl_kernel const kernel = cl.kernel("twice");
      cl_mem const buffer = cl.buffer();
      for (int k = 0; k < 500; ++k) run(queues[k % 2], kernel, buffer);
      --busy;
    });
  }
  while (busy > 0) {
    for (cl_command_queue const queue : queues) CHECK_CL(clFinish(queue));
  }
  for (std::thread& worker : workers) worker.join();
  for (cl_command_queue const queue : queues) CHECK_CL(clFinish(queue));
  truth("kernel", "twice", 2000);
}

// Handles are used again by the driver: names and queues must not be mixed up.
void reuse() {
  const Setup cl;
  cl_mem const buffer = cl.buffer();
  for (int i = 0; i < 50; ++i) {
    cl_command_queue const queue = cl.queue(i % 2 == 0 ? 0 : CL_QUEUE_PROFILING_ENABLE);
    cl_kernel const kernel = cl.kernel(i % 2 == 0 ? "twice" : "add_one");
    run(queue, kernel, buffer);
    CHECK_CL(clFinish(queue));
    cl_command_queue_properties properties = 7;
    CHECK_CL(
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr));
    std::printf("%d", static_cast<int>(properties));
    CHECK_CL(clReleaseKernel(kernel));
    CHECK_CL(clReleaseCommandQueue(queue));
  }
  std::printf("\n");
  truth("kernel", "twice", 25);
  truth("kernel", "add_one", 25);
}

}  // namespace

bool run_commands(const std::string& mode) {
  if (mode == "in-order") return in_order(), true;
  if (mode == "out-of-order") return out_of_order(), true;
  if (mode == "user-event") return user_event(), true;
  if (mode == "user-event-set") return user_event_set(), true;
  if (mode == "failed-event") return failed_event(), true;
  if (mode == "failed-enqueue") return failed_enqueue(), true;
  if (mode == "failed-build") return failed_build(), true;
  // What would act on a terminal, for the compiler to repeat.
  if (mode == "evil-build") return failed_build("#error \x1b[2J\x07 evil\n"), true;
  if (mode == "threads") return threads(), true;
  if (mode == "enqueue-and-finish") return enqueue_and_finish(), true;
  if (mode == "reuse") return reuse(), true;
  return false;
}

}  // namespace opencl_program
