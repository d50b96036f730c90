// Modes about memory: objects, parts of objects, images, maps, shared virtual memory, leaks.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "record/opencl/opencl_program.h"

namespace opencl_program {
namespace {

std::atomic<int> objects_gone = 0;

// A driver may hold an object until its own threads have put their commands away, which is after
// clFinish. Only then was it freed.
void release_and_wait(const std::vector<cl_mem>& objects) {
  using namespace std::chrono_literals;
  objects_gone = 0;
  for (cl_mem const object : objects) {
    CHECK_CL(clSetMemObjectDestructorCallback(
        object, [](cl_mem, void*) { ++objects_gone; }, nullptr));
    CHECK_CL(clReleaseMemObject(object));
  }
  const auto last = std::chrono::steady_clock::now() + 10s;
  while (objects_gone < static_cast<int>(objects.size()) && std::chrono::steady_clock::now() < last)
    std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(10ms);  // callbacks that were set before ours are called after it
}

void sub_buffers() {
  const Setup cl;
  cl_command_queue const queue = cl.queue();
  cl_mem const whole = cl.buffer(1 << 20);
  std::vector<cl_mem> parts;
  for (std::size_t i = 0; i < 8; ++i) {
    const cl_buffer_region region = {i * 65'536, 65'536};
    cl_int status = CL_SUCCESS;
    parts.push_back(clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
    CHECK_CL(status);
  }
  const float one = 1;
  for (cl_mem const part : parts) {
    CHECK_CL(clEnqueueFillBuffer(queue, part, &one, sizeof one, 0, 65'536, 0, nullptr, nullptr));
  }
  CHECK_CL(clFinish(queue));
  CHECK_CL(clRetainMemObject(whole));
  CHECK_CL(clReleaseMemObject(whole));  // a release that frees nothing
  parts.push_back(whole);
  release_and_wait(parts);
  CHECK_CL(clReleaseCommandQueue(queue));
  cl.release();
  truth("fill", "FillBuffer", 8, 65'536);
  truth("allocation", "clCreateBuffer", 1, 1 << 20);
  truth("free", "clCreateBuffer", 1, 1 << 20);
  std::printf("done\n");
}

void leak() {
  const Setup cl;
  cl_mem const kept = cl.buffer(300'000);
  cl_mem const freed = cl.buffer(100'000);
  std::printf("%d\n", kept != nullptr ? 1 : 0);
  CHECK_CL(clReleaseMemObject(freed));
  truth("allocation", "clCreateBuffer", 2);
  truth("free", "clCreateBuffer", 1, 100'000);
}

void maps() {
  const Setup cl;
  cl_command_queue const queue = cl.queue();
  cl_mem const buffer = cl.buffer();
  for (int i = 0; i < 5; ++i) {
    cl_int status = CL_SUCCESS;
    void* const mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                            kBytes, 0, nullptr, nullptr, &status);
    CHECK_CL(status);
    std::memset(mapped, i, kBytes);
    CHECK_CL(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, nullptr, nullptr));
  }
  CHECK_CL(clFinish(queue));
  truth("map", "MapBuffer", 5);
  truth("map", "UnmapMemObject", 5);
  std::printf("done\n");
}

void images() {
  const Setup cl;
  cl_command_queue const queue = cl.queue();
  const cl_image_format format = {CL_RGBA, CL_FLOAT};
  cl_image_desc description = {};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = 64;
  description.image_height = 32;
  cl_int status = CL_SUCCESS;
  cl_mem const image =
      clCreateImage(cl.context, CL_MEM_READ_WRITE, &format, &description, nullptr, &status);
  CHECK_CL(status);
  cl_mem const other =
      clCreateImage(cl.context, CL_MEM_READ_WRITE, &format, &description, nullptr, &status);
  CHECK_CL(status);
  constexpr std::size_t kImageBytes = 64 * 32 * 16;
  cl_mem const buffer = cl.buffer(2 * kImageBytes);
  std::vector<float> host(kImageBytes / sizeof(float), 0.5F);
  const std::array<std::size_t, 3> origin = {0, 0, 0};
  const std::array<std::size_t, 3> region = {64, 32, 1};
  const std::array<float, 4> colour = {1, 2, 3, 4};
  CHECK_CL(clEnqueueWriteImage(queue, image, CL_TRUE, origin.data(), region.data(), 0, 0,
                               host.data(), 0, nullptr, nullptr));
  CHECK_CL(clEnqueueFillImage(queue, other, colour.data(), origin.data(), region.data(), 0, nullptr,
                              nullptr));
  CHECK_CL(clEnqueueCopyImage(queue, other, image, origin.data(), origin.data(), region.data(), 0,
                              nullptr, nullptr));
  CHECK_CL(clEnqueueCopyImageToBuffer(queue, image, buffer, origin.data(), region.data(), 0, 0,
                                      nullptr, nullptr));
  CHECK_CL(clEnqueueCopyBufferToImage(queue, buffer, other, 0, origin.data(), region.data(), 0,
                                      nullptr, nullptr));
  CHECK_CL(clEnqueueReadImage(queue, other, CL_TRUE, origin.data(), region.data(), 0, 0,
                              host.data(), 0, nullptr, nullptr));
  std::size_t row = 0;
  void* const mapped =
      clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, origin.data(), region.data(), &row,
                        nullptr, 0, nullptr, nullptr, &status);
  CHECK_CL(status);
  CHECK_CL(clEnqueueUnmapMemObject(queue, image, mapped, 0, nullptr, nullptr));
  CHECK_CL(clFinish(queue));
  std::printf("%g %g\n", host[0], host[3]);
  release_and_wait({image, other, buffer});
  for (const char* const name :
       {"WriteImage", "CopyImage", "CopyImageToBuffer", "CopyBufferToImage", "ReadImage"}) {
    truth("copy", name, 1, kImageBytes);
  }
  truth("fill", "FillImage", 1, kImageBytes);
  truth("map", "MapImage", 1);
  truth("map", "UnmapMemObject", 1);
  truth("allocation", "clCreateImage", 2, kImageBytes);
  truth("free", "clCreateImage", 2, kImageBytes);
  truth("allocation", "clCreateBuffer", 1, 2 * kImageBytes);
  truth("free", "clCreateBuffer", 1, 2 * kImageBytes);
}

void svm() {
  const Setup cl;
  cl_command_queue const queue = cl.queue();
  std::array<void*, 3> memory = {};
  for (void*& part : memory) part = clSVMAlloc(cl.context, CL_MEM_READ_WRITE, kBytes, 0);
  const float two = 2;
  CHECK_CL(clEnqueueSVMMemFill(queue, memory[0], &two, sizeof two, kBytes, 0, nullptr, nullptr));
  CHECK_CL(clEnqueueSVMMemcpy(queue, CL_TRUE, memory[1], memory[0], kBytes, 0, nullptr, nullptr));
  CHECK_CL(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, memory[1], kBytes, 0, nullptr, nullptr));
  float first = 0;
  std::memcpy(&first, memory[1], sizeof first);
  std::printf("first %g\n", first);
  CHECK_CL(clEnqueueSVMUnmap(queue, memory[1], 0, nullptr, nullptr));
  CHECK_CL(clFinish(queue));
  clSVMFree(cl.context, memory[0]);
  CHECK_CL(clEnqueueSVMFree(queue, 2, &memory[1], nullptr, nullptr, 0, nullptr, nullptr));
  CHECK_CL(clFinish(queue));
  truth("fill", "SVMMemFill", 1, kBytes);
  truth("copy", "SVMMemcpy", 1, kBytes);
  truth("map", "SVMMap", 1);
  truth("map", "SVMUnmap", 1);
  truth("allocation", "clSVMAlloc", 3, kBytes);
  truth("free", "clSVMAlloc", 3, kBytes);
}

}  // namespace

bool run_memory(const std::string& mode) {
  if (mode == "sub-buffers") return sub_buffers(), true;
  if (mode == "leak") return leak(), true;
  if (mode == "maps") return maps(), true;
  if (mode == "images") return images(), true;
  if (mode == "svm") return svm(), true;
  return false;
}

}  // namespace opencl_program
