// Modes about what a program can see: every answer must be the same whether it is recorded or not.

#include <CL/cl_ext.h>

#include <array>
#include <cstdio>

#include "record/opencl/opencl_program.h"

namespace opencl_program {
namespace {

void print_queue(const char* what, cl_command_queue queue) {
  cl_command_queue_properties properties = 99;
  cl_uint references = 99;
  CHECK_CL(
      clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr));
  CHECK_CL(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof references, &references,
                                 nullptr));
  std::array<cl_queue_properties, 16> list = {};
  std::size_t bytes = 0;
  const cl_int asked =
      clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof list, list.data(), &bytes);
  std::printf("%s: properties %d, references %u, array %d %zu:", what, static_cast<int>(properties),
              references, asked, bytes);
  for (std::size_t i = 0; i < bytes / sizeof list[0]; ++i) {
    std::printf(" %ld", static_cast<long>(list[i]));
  }
  std::size_t too_small = 0;
  std::printf(" | %d", clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, 1, &too_small, nullptr));
  std::printf(" %d\n",
              clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 1, &too_small, nullptr));
}

void print_event(const char* what, cl_event event) {
  cl_ulong stamp = 0;
  const cl_int asked =
      clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof stamp, &stamp, nullptr);
  std::printf("%s: profiling %d, stamped %d\n", what, asked, stamp != 0 ? 1 : 0);
}

void print_references(const char* what, cl_event event) {
  cl_uint references = 99;
  CHECK_CL(
      clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, nullptr));
  std::printf("%s: references %u\n", what, references);
}

cl_command_queue queue_with(const Setup& cl, const cl_queue_properties* properties) {
  cl_int status = CL_SUCCESS;
  cl_command_queue const queue =
      clCreateCommandQueueWithProperties(cl.context, cl.device, properties, &status);
  if (queue == nullptr) std::printf("refused: %d\n", status);
  return queue;
}

void queries() {
  const Setup cl;
  const std::array<cl_queue_properties, 3> in_order = {CL_QUEUE_PROPERTIES, 0, 0};
  const std::array<cl_queue_properties, 3> profiled = {CL_QUEUE_PROPERTIES,
                                                       CL_QUEUE_PROFILING_ENABLE, 0};
  const std::array<cl_queue_properties, 3> unordered = {CL_QUEUE_PROPERTIES,
                                                        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
  const std::array<cl_queue_properties, 1> nothing = {0};
  const std::array<cl_queue_properties, 3> wrong = {12345, 678, 0};
  const std::array<cl_queue_properties, 5> on_device = {
      CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
      CL_QUEUE_SIZE, 1024, 0};
  const struct {
    const char* name;
    const cl_queue_properties* properties;
  } cases[] = {{"no list", nullptr},
               {"empty list", nothing.data()},
               {"in order", in_order.data()},
               {"profiled", profiled.data()},
               {"unordered", unordered.data()},
               {"wrong", wrong.data()},
               {"on device", on_device.data()}};
  cl_mem const buffer = cl.buffer();
  cl_kernel const kernel = cl.kernel("twice");
  for (const auto& one : cases) {
    cl_command_queue const queue = queue_with(cl, one.properties);
    if (queue == nullptr) continue;
    print_queue(one.name, queue);
    cl_event event = nullptr;
    run(queue, kernel, buffer, &event);
    CHECK_CL(clFinish(queue));
    print_event(one.name, event);
    CHECK_CL(clReleaseEvent(event));
    CHECK_CL(clReleaseCommandQueue(queue));
  }
  cl_command_queue const old_style = cl.queue();
  print_queue("old style", old_style);
  cl_int status = 0;
  std::printf("wrong bits: %d %d\n",
              clCreateCommandQueue(cl.context, cl.device, 1U << 20, &status) == nullptr ? 1 : 0,
              status);
  std::printf("no queue: %d\n",
              clGetCommandQueueInfo(nullptr, CL_QUEUE_PROPERTIES, 0, nullptr, nullptr));
  std::printf("no event: %d\n",
              clGetEventProfilingInfo(nullptr, CL_PROFILING_COMMAND_END, 0, nullptr, nullptr));
  cl_event const user = clCreateUserEvent(cl.context, &status);
  print_event("user event", user);
}

// Asked while the command waits for a gate: a recorder holds the event for certain, and the
// driver's own references stand still. Of a command that has just run, PoCL lets go when it gets to
// it.
void references() {
  const Setup cl;
  cl_command_queue const queue = cl.queue();
  cl_mem const buffer = cl.buffer();
  cl_kernel const kernel = cl.kernel("twice");
  cl_int status = CL_SUCCESS;
  cl_event const gate = clCreateUserEvent(cl.context, &status);
  CHECK_CL(status);
  cl_event event = nullptr;
  run(queue, kernel, buffer, &event, {gate});
  CHECK_CL(clFlush(queue));
  print_references("waiting", event);
  CHECK_CL(clRetainEvent(event));
  print_references("retained", event);
  CHECK_CL(clReleaseEvent(event));
  print_references("released", event);
  CHECK_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  CHECK_CL(clFinish(queue));
}

void own_profiling() {
  const Setup cl;
  cl_command_queue const queue = cl.queue(CL_QUEUE_PROFILING_ENABLE);
  cl_mem const buffer = cl.buffer();
  cl_kernel const kernel = cl.kernel("slow");
  std::vector<cl_event> events(20);
  for (cl_event& event : events) run(queue, kernel, buffer, &event);
  CHECK_CL(clFinish(queue));
  for (cl_event const event : events) {
    truth_duration("slow", event);
    print_event("own", event);
    CHECK_CL(clReleaseEvent(event));
  }
  truth("kernel", "slow", 20);
}

// Extensions are asked for by name; a queue that is made by one is recorded like any other.
void extensions() {
  const Setup cl;
  const auto find = [&](const char* name) {
    return clGetExtensionFunctionAddressForPlatform(cl.platform, name);
  };
  std::printf("nothing: %d\n", find("clNoSuchFunction") == nullptr ? 1 : 0);
  const auto create = reinterpret_cast<clCreateCommandQueueWithPropertiesKHR_fn>(
      find("clCreateCommandQueueWithPropertiesKHR"));
  std::printf("queue by name: %d\n", create != nullptr ? 1 : 0);
  cl_mem const buffer = cl.buffer();
  cl_kernel const kernel = cl.kernel("twice");
  if (create != nullptr) {
    cl_int status = CL_SUCCESS;
    cl_command_queue const queue = create(cl.context, cl.device, nullptr, &status);
    CHECK_CL(status);
    run(queue, kernel, buffer);
    CHECK_CL(clFinish(queue));
  }
  truth("kernel", "twice", create != nullptr ? 1 : 0);
  std::printf("command buffers: %d\n", find("clEnqueueCommandBufferKHR") != nullptr ? 1 : 0);
}

// Three kernels in a command buffer, which is enqueued four times; nothing where there are none.
void command_buffer() {
  const Setup cl;
  const auto find = [&](const char* name) {
    return clGetExtensionFunctionAddressForPlatform(cl.platform, name);
  };
  const auto create =
      reinterpret_cast<clCreateCommandBufferKHR_fn>(find("clCreateCommandBufferKHR"));
  const auto add =
      reinterpret_cast<clCommandNDRangeKernelKHR_fn>(find("clCommandNDRangeKernelKHR"));
  const auto finalize =
      reinterpret_cast<clFinalizeCommandBufferKHR_fn>(find("clFinalizeCommandBufferKHR"));
  const auto enqueue =
      reinterpret_cast<clEnqueueCommandBufferKHR_fn>(find("clEnqueueCommandBufferKHR"));
  if (create == nullptr || add == nullptr || finalize == nullptr || enqueue == nullptr) {
    std::printf("no command buffers\n");
    return;
  }
  cl_command_queue queue = cl.queue();
  cl_mem const buffer = cl.buffer();
  cl_kernel const kernel = cl.kernel("twice");
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  cl_int status = CL_SUCCESS;
  cl_command_buffer_khr const commands = create(1, &queue, nullptr, &status);
  CHECK_CL(status);
  for (int i = 0; i < 3; ++i) {
    CHECK_CL(add(commands, nullptr, nullptr, kernel, 1, nullptr, &kItems, nullptr, 0, nullptr,
                 nullptr, nullptr));
  }
  CHECK_CL(finalize(commands));
  // With a queue and without one, with an event and without.
  cl_event event = nullptr;
  CHECK_CL(enqueue(1, &queue, commands, 0, nullptr, nullptr));
  CHECK_CL(clFinish(queue));
  CHECK_CL(enqueue(0, nullptr, commands, 0, nullptr, nullptr));
  CHECK_CL(clFinish(queue));
  CHECK_CL(enqueue(0, nullptr, commands, 0, nullptr, &event));
  CHECK_CL(clWaitForEvents(1, &event));
  print_event("command buffer", event);
  CHECK_CL(clReleaseEvent(event));
  std::printf("no buffer: %d\n", enqueue(1, &queue, nullptr, 0, nullptr, nullptr));
  CHECK_CL(clFinish(queue));
  std::printf("enqueued 3\n");
}

}  // namespace

bool run_behaviour(const std::string& mode) {
  if (mode == "queries") return queries(), true;
  if (mode == "references") return references(), true;
  if (mode == "own-profiling") return own_profiling(), true;
  if (mode == "command-buffer") return command_buffer(), true;
  if (mode == "extensions") return extensions(), true;
  return false;
}

}  // namespace opencl_program
