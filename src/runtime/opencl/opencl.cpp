#include "runtime/opencl/opencl.h"

#include <CL/cl.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <mutex>
#include <type_traits>

#include "fathom/memory_pool.h"
#include "runtime/opencl/clblast.h"
#include "runtime/opencl/kernels.h"
#include "runtime/work.h"

namespace fathom::runtime {
namespace {

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t bytes = 0;
  if (clGetDeviceInfo(device, what, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string text(bytes, '\0');
  clGetDeviceInfo(device, what, bytes, text.data(), nullptr);
  text.resize(text.find('\0'));
  return text;
}

template <typename T>
T number_of(cl_device_id device, cl_device_info what) {
  T value = {};
  clGetDeviceInfo(device, what, sizeof value, &value, nullptr);
  return value;
}

bool is_cpu(cl_device_id device) {
  return (number_of<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
}

DeviceModel model_of(cl_device_id device, std::size_t index) {
  DeviceModel model = default_device(fmt::format("opencl:{}", index), is_cpu(device));
  model.memory_bytes = number_of<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  return model;
}

std::size_t up_to(std::size_t count, std::size_t step) {
  return (count + step - 1) / step * step;
}

// One queue in order; a lock, because arguments of kernels are set one by one.
class OpenclDevice : public Device {
 public:
  OpenclDevice(cl_device_id device, std::size_t index, const OpenclOptions& options)
      : Device(model_of(device, index)),
        device_(device),
        index_(index),
        clblast_name_(options.uses_clblast_on_cpus || !is_cpu(device) ? options.clblast : "") {}
  ~OpenclDevice() override;

  const char* backend() const override { return "opencl"; }
  std::string description() const override { return text_of(device_, CL_DEVICE_NAME); }
  std::optional<std::int32_t> gpu() const override { return static_cast<std::int32_t>(index_); }

  void* allocate(std::size_t bytes) override;
  void release(void* segment) noexcept override {
    if (segment != nullptr) clReleaseMemObject(static_cast<cl_mem>(segment));
  }
  void write(Place to, const void* from, std::size_t bytes) override;
  void read(void* to, Place from, std::size_t bytes) override;
  void xor_words(Place out, Place a, Place b, std::size_t words) override;
  void matmul(const MatmulShape& shape, Place c, Place a, Place b) override;
  void elementwise(Operation operation, float alpha, Place out, Place a, Place b,
                   std::size_t elements) override;
  float reduce(Place a, std::size_t elements) override;
  void graph_search(const GraphPlaces& graph, std::uint32_t source, Place distances) override;

 private:
  void check(cl_int status, const char* what) const;
  void open();  // once; under the lock
  bool multiply_by_clblast(const MatmulShape& shape, Place c, Place a, Place b);
  cl_kernel kernel(const char* name);
  template <typename... Arguments>
  void launch(const char* name, std::array<std::size_t, 3> global, std::array<std::size_t, 3> local,
              const Arguments&... arguments);
  void finish() { check(clFinish(queue_), "clFinish"); }

  cl_device_id device_;
  std::size_t index_;
  std::string clblast_name_;        // empty: not wanted
  std::optional<Clblast> clblast_;  // once open
  std::mutex mutex_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  std::map<std::string, cl_kernel> kernels_;
  cl_mem scratch_ = nullptr;  // sums of groups; whether a search went on
};

OpenclDevice::~OpenclDevice() {
  for (const auto& [name, kernel] : kernels_) clReleaseKernel(kernel);
  if (scratch_ != nullptr) clReleaseMemObject(scratch_);
  if (program_ != nullptr) clReleaseProgram(program_);
  if (queue_ != nullptr) clReleaseCommandQueue(queue_);
  if (context_ != nullptr) clReleaseContext(context_);
}

void OpenclDevice::check(cl_int status, const char* what) const {
  if (status == CL_SUCCESS) return;
  if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE) {  // some drivers find room at the first use
    throw OutOfMemory(model_.name + ": out of memory");
  }
  throw DeviceLost(fmt::format("{}: {} failed with {}", model_.name, what, status));
}

void OpenclDevice::open() {
  if (scratch_ != nullptr) return;
  cl_int status = CL_SUCCESS;
  context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  queue_ = clCreateCommandQueue(context_, device_, 0, &status);
  check(status, "clCreateCommandQueue");
  program_ = clCreateProgramWithSource(context_, 1, const_cast<const char**>(&opencl_source),
                                       nullptr, &status);
  check(status, "clCreateProgramWithSource");
  const std::string options = fmt::format("-DTILE={} -DSUM_GROUP={}", kTile, kSumGroup);
  check(clBuildProgram(program_, 1, &device_, options.c_str(), nullptr, nullptr), "clBuildProgram");
  if (!clblast_name_.empty()) clblast_ = load_clblast(clblast_name_);
  scratch_ =
      clCreateBuffer(context_, CL_MEM_READ_WRITE, kMostSumGroups * sizeof(float), nullptr, &status);
  check(status, "clCreateBuffer");
}

cl_kernel OpenclDevice::kernel(const char* name) {
  cl_kernel& found = kernels_[name];
  if (found != nullptr) return found;
  cl_int status = CL_SUCCESS;
  found = clCreateKernel(program_, name, &status);
  check(status, "clCreateKernel");
  return found;
}

// A Place is two arguments: buffer, and element of 4 bytes.
template <typename... Arguments>
void OpenclDevice::launch(const char* name, std::array<std::size_t, 3> global,
                          std::array<std::size_t, 3> local, const Arguments&... arguments) {
  cl_kernel const kernel = this->kernel(name);
  cl_uint index = 0;
  const auto set = [&](const auto& argument) {
    using Argument = std::decay_t<decltype(argument)>;
    if constexpr (std::is_same_v<Argument, Place>) {
      const cl_ulong element = argument.offset / 4;
      check(clSetKernelArg(kernel, index++, sizeof(cl_mem), &argument.segment), "clSetKernelArg");
      check(clSetKernelArg(kernel, index++, sizeof element, &element), "clSetKernelArg");
    } else {
      check(clSetKernelArg(kernel, index++, sizeof argument, &argument), "clSetKernelArg");
    }
  };
  (set(arguments), ...);
  const bool has_local = local[0] != 0;
  check(clEnqueueNDRangeKernel(queue_, kernel, 3, nullptr, global.data(),
                               has_local ? local.data() : nullptr, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
}

void* OpenclDevice::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  open();
  cl_int status = CL_SUCCESS;
  cl_mem const buffer = clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  return status == CL_SUCCESS ? buffer : nullptr;
}

void OpenclDevice::write(Place to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(mutex_);
  check(clEnqueueWriteBuffer(queue_, static_cast<cl_mem>(to.segment), CL_TRUE, to.offset, bytes,
                             from, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
}

void OpenclDevice::read(void* to, Place from, std::size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(mutex_);
  check(clEnqueueReadBuffer(queue_, static_cast<cl_mem>(from.segment), CL_TRUE, from.offset, bytes,
                            to, 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
}

void OpenclDevice::xor_words(Place out, Place a, Place b, std::size_t words) {
  if (words == 0) return;
  const std::lock_guard lock(mutex_);
  launch("xor_words", {up_to(words, kSumGroup), 1, 1}, {kSumGroup, 1, 1}, out, a, b,
         static_cast<cl_ulong>(words));
  finish();
}

void OpenclDevice::elementwise(Operation operation, float alpha, Place out, Place a, Place b,
                               std::size_t elements) {
  if (elements == 0) return;
  const int number = operation == Operation::add        ? 0
                     : operation == Operation::multiply ? 1
                     : operation == Operation::relu     ? 2
                                                        : 3;
  const std::lock_guard lock(mutex_);
  launch("elementwise", {up_to(elements, kSumGroup), 1, 1}, {kSumGroup, 1, 1}, out, a,
         operation == Operation::relu ? a : b, static_cast<cl_ulong>(elements),
         static_cast<cl_int>(number), static_cast<cl_float>(alpha));
  finish();
}

// False where our own kernel has to: what CLBlast refused once, because the device is none for its
// kernels, it is not asked for again.
bool OpenclDevice::multiply_by_clblast(const MatmulShape& shape, Place c, Place a, Place b) {
  if (!clblast_ || shape.inner == 0) return false;
  const auto buffer = [](Place place) { return static_cast<cl_mem>(place.segment); };
  const auto element = [](Place place) { return place.offset / sizeof(float); };
  const auto step = [](std::size_t stride, std::size_t each) {
    return stride != 0 ? stride : each;
  };
  const int status =
      shape.batch == 1
          ? clblast_->multiply(kClblastRowMajor, kClblastNotTransposed, kClblastNotTransposed,
                               shape.rows, shape.columns, shape.inner, 1, buffer(a), element(a),
                               shape.inner, buffer(b), element(b), shape.columns, 0, buffer(c),
                               element(c), shape.columns, &queue_, nullptr)
          : clblast_->multiply_many(
                kClblastRowMajor, kClblastNotTransposed, kClblastNotTransposed, shape.rows,
                shape.columns, shape.inner, 1, buffer(a), element(a), shape.inner,
                step(shape.stride_a, shape.rows * shape.inner), buffer(b), element(b),
                shape.columns, step(shape.stride_b, shape.inner * shape.columns), 0, buffer(c),
                element(c), shape.columns, step(shape.stride_c, shape.rows * shape.columns),
                shape.batch, &queue_, nullptr);
  if (status == CL_SUCCESS) {
    finish();
    return true;
  }
  clblast_.reset();
  return false;
}

void OpenclDevice::matmul(const MatmulShape& shape, Place c, Place a, Place b) {
  if (shape.rows == 0 || shape.columns == 0 || shape.batch == 0) return;
  const auto step = [](std::size_t stride, std::size_t each) {
    return static_cast<cl_ulong>(stride != 0 ? stride : each);
  };
  const std::lock_guard lock(mutex_);
  if (multiply_by_clblast(shape, c, a, b)) return;
  launch("matmul", {up_to(shape.columns, kTile), up_to(shape.rows, kTile), shape.batch},
         {kTile, kTile, 1}, c, a, b, static_cast<cl_ulong>(shape.rows),
         static_cast<cl_ulong>(shape.inner), static_cast<cl_ulong>(shape.columns),
         step(shape.stride_a, shape.rows * shape.inner),
         step(shape.stride_b, shape.inner * shape.columns),
         step(shape.stride_c, shape.rows * shape.columns));
  finish();
}

float OpenclDevice::reduce(Place a, std::size_t elements) {
  if (elements == 0) return 0;
  const std::size_t groups =
      std::min<std::size_t>(kMostSumGroups, up_to(elements, kSumGroup) / kSumGroup);
  std::array<float, kMostSumGroups> sums;
  const std::lock_guard lock(mutex_);
  launch("sum", {groups * kSumGroup, 1, 1}, {kSumGroup, 1, 1}, Place{scratch_, 0}, a,
         static_cast<cl_ulong>(elements));
  check(clEnqueueReadBuffer(queue_, scratch_, CL_TRUE, 0, groups * sizeof(float), sums.data(), 0,
                            nullptr, nullptr),
        "clEnqueueReadBuffer");
  double all = 0;
  for (std::size_t i = 0; i < groups; ++i) all += sums[i];
  return static_cast<float>(all);
}

void OpenclDevice::graph_search(const GraphPlaces& graph, std::uint32_t source, Place distances) {
  const std::lock_guard lock(mutex_);
  cl_mem const levels = static_cast<cl_mem>(distances.segment);
  const cl_uint unreached = kUnreached;
  check(clEnqueueFillBuffer(queue_, levels, &unreached, sizeof unreached, distances.offset,
                            graph.nodes * sizeof unreached, 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
  cl_uint changed = 0;
  check(clEnqueueWriteBuffer(queue_, levels, CL_TRUE, distances.offset + source * sizeof(cl_uint),
                             sizeof changed, &changed, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  for (cl_uint level = 0;; ++level) {
    changed = 0;
    check(clEnqueueWriteBuffer(queue_, scratch_, CL_FALSE, 0, sizeof changed, &changed, 0, nullptr,
                               nullptr),
          "clEnqueueWriteBuffer");
    launch("search_level", {up_to(graph.nodes, kSumGroup), 1, 1}, {kSumGroup, 1, 1}, distances,
           graph.offsets, graph.targets, static_cast<cl_ulong>(graph.nodes), level,
           Place{scratch_, 0});
    check(clEnqueueReadBuffer(queue_, scratch_, CL_TRUE, 0, sizeof changed, &changed, 0, nullptr,
                              nullptr),
          "clEnqueueReadBuffer");
    if (changed == 0) return;
  }
}

}  // namespace

std::vector<std::unique_ptr<Device>> opencl_devices(const OpenclOptions& options) {
  std::vector<std::unique_ptr<Device>> found;
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return found;
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  for (cl_platform_id platform : platforms) {
    cl_uint devices = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS) continue;
    std::vector<cl_device_id> ids(devices);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr);
    for (cl_device_id id : ids) {
      found.push_back(std::make_unique<OpenclDevice>(id, found.size(), options));
    }
  }
  return found;
}

}  // namespace fathom::runtime
