// A tiled matrix multiply on OpenCL, with two mistakes for Fathom to find: the GPU idles
// while the host prepares the next batch, and a buffer is never released.
//
//   ./dev demo                            records it and shows what was found
//   ./example_matmul [PROFILE.json]       on its own: the same figures, from inside the program
#include <CL/cl.h>
#include <fathom/fathom.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kSize = 256;  // rows and columns of a matrix
constexpr std::size_t kTile = 16;
constexpr std::size_t kBytes = kSize * kSize * sizeof(float);
constexpr int kProducts = 4;  // per batch

using Matrix = std::vector<float>;

constexpr const char* kSource = R"(
__kernel void matmul_tiled(__global const float* a, __global const float* b, __global float* c) {
  __local float tile_a[TILE][TILE];
  __local float tile_b[TILE][TILE];
  const int x = get_local_id(0), y = get_local_id(1);
  const int column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int tile = 0; tile < SIZE / TILE; ++tile) {
    tile_a[y][x] = a[row * SIZE + tile * TILE + x];
    tile_b[y][x] = b[(tile * TILE + y) * SIZE + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += tile_a[y][k] * tile_b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * SIZE + column] = sum;
})";

void check(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  std::fprintf(stderr, "%s: OpenCL error %d\n", what, status);
  std::exit(1);
}

// What a program needs to run one kernel on the first device it finds.
struct Gpu {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_program program = nullptr;
  cl_kernel kernel = nullptr;
  char name[128] = {};

  Gpu() {
    FATHOM_SCOPE("set up");
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    check(clGetPlatformIDs(1, &platform, nullptr), "no OpenCL platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "no OpenCL device");
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, nullptr);
    cl_int status = CL_SUCCESS;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "context");
    queue = clCreateCommandQueueWithProperties(context, device, nullptr, &status);
    check(status, "queue");
    const char* source = kSource;
    program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
    check(status, "program");
    char options[64];
    std::snprintf(options, sizeof options, "-DSIZE=%zu -DTILE=%zu", kSize, kTile);
    check(clBuildProgram(program, 1, &device, options, nullptr, nullptr), "build");
    kernel = clCreateKernel(program, "matmul_tiled", &status);
    check(status, "kernel");
  }

  ~Gpu() {
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }

  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  cl_mem buffer() const {
    cl_int status = CL_SUCCESS;
    cl_mem const made = clCreateBuffer(context, CL_MEM_READ_WRITE, kBytes, nullptr, &status);
    check(status, "buffer");
    return made;
  }
};

void upload(const Gpu& gpu, cl_mem to, const Matrix& from) {
  FATHOM_SCOPE("upload");
  check(clEnqueueWriteBuffer(gpu.queue, to, CL_TRUE, 0, kBytes, from.data(), 0, nullptr, nullptr),
        "upload");
}

void download(const Gpu& gpu, Matrix& to, cl_mem from) {
  FATHOM_SCOPE("download");
  check(clEnqueueReadBuffer(gpu.queue, from, CL_TRUE, 0, kBytes, to.data(), 0, nullptr, nullptr),
        "download");
}

void multiply(const Gpu& gpu, cl_mem a, cl_mem b, cl_mem c) {
  FATHOM_SCOPE("multiply");
  const cl_mem arguments[] = {a, b, c};
  for (cl_uint i = 0; i < 3; ++i) clSetKernelArg(gpu.kernel, i, sizeof(cl_mem), &arguments[i]);
  const std::size_t global[] = {kSize, kSize};
  const std::size_t local[] = {kTile, kTile};
  for (int i = 0; i < kProducts; ++i) {
    check(clEnqueueNDRangeKernel(gpu.queue, gpu.kernel, 2, nullptr, global, local, 0, nullptr,
                                 nullptr),
          "multiply");
  }
  check(clFinish(gpu.queue), "finish");
}

// The first mistake: the GPU is idle until this has finished.
void prepare_next_batch() {
  FATHOM_SCOPE("prepare next batch");
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
}

// The second: the buffer is never released.
void cache_weights(const Gpu& gpu, const Matrix& weights) {
  FATHOM_SCOPE("cache weights");
  upload(gpu, gpu.buffer(), weights);
}

float largest_error(const Matrix& a, const Matrix& b, const Matrix& c) {
  FATHOM_SCOPE("check");
  Matrix expected(kSize * kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t k = 0; k < kSize; ++k) {
      const float factor = a[i * kSize + k];
      for (std::size_t j = 0; j < kSize; ++j) {
        expected[i * kSize + j] += factor * b[k * kSize + j];
      }
    }
  }
  float worst = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    worst = std::max(worst, std::abs(c[i] - expected[i]));
  }
  return worst;
}

float run(const Gpu& gpu) {
  Matrix a(kSize * kSize);
  Matrix b(kSize * kSize);
  Matrix c(kSize * kSize);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 7) / 7;
    b[i] = static_cast<float>(i % 5) / 5;
  }
  cl_mem const on_gpu[] = {gpu.buffer(), gpu.buffer(), gpu.buffer()};
  cache_weights(gpu, a);
  for (int batch = 0; batch < 2; ++batch) {
    FATHOM_SCOPE("batch");
    upload(gpu, on_gpu[0], a);
    upload(gpu, on_gpu[1], b);
    multiply(gpu, on_gpu[0], on_gpu[1], on_gpu[2]);
    download(gpu, c, on_gpu[2]);
    if (batch == 0) prepare_next_batch();
  }
  for (cl_mem const buffer : on_gpu) clReleaseMemObject(buffer);
  return largest_error(a, b, c);
}

}  // namespace

int main(int argc, char** argv) {
  fathom::record_opencl();  // has no effect under `fathom profile`, which does the same
  const Gpu gpu;
  const float error = run(gpu);
  const bool is_right = error < 1e-2F;
  std::printf("%zu x %zu matrix product on %s: %s, largest error %g\n", kSize, kSize, gpu.name,
              is_right ? "correct" : "wrong", static_cast<double>(error));
  if (argc > 1) fathom::profiler().export_json(argv[1]);
  return is_right ? 0 : 1;
}
