#include "runtime/cuda/cuda.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <mutex>

#include "runtime/cuda/cuda_api.h"
#include "runtime/cuda/kernels.h"
#include "runtime/work.h"

namespace fathom::runtime {
namespace {

constexpr unsigned kGroup = 256;           // threads of a block
constexpr unsigned kMostGroups = 1 << 16;  // a thread takes several elements from here on
constexpr unsigned kSumGroups = 256;       // of a sum's first pass; the second is one group
constexpr std::size_t kSums = std::size_t{kSumGroups} * kGroup;

using Count = unsigned long long;  // as the kernels count

CUdeviceptr address(Place place) {
  return reinterpret_cast<CUdeviceptr>(place.segment) + place.offset;
}

DeviceModel model_of(const CudaDriver& driver, CUdevice device, int index) {
  DeviceModel model = default_device(fmt::format("cuda:{}", index), false);
  std::size_t bytes = 0;
  if (driver.device_total_mem(&bytes, device) == CUDA_SUCCESS) model.memory_bytes = bytes;
  return model;
}

// One stream, in the context that the CUDA runtime of the program uses too.
class CudaDevice : public Device {
 public:
  CudaDevice(const CudaDriver& driver, std::string cublas, CUdevice device, int index)
      : Device(model_of(driver, device, index)),
        driver_(driver),
        cublas_name_(std::move(cublas)),
        device_(device),
        index_(index) {}
  ~CudaDevice() override;

  const char* backend() const override { return "cuda"; }
  std::string description() const override;
  std::optional<std::int32_t> gpu() const override { return index_; }

  void* allocate(std::size_t bytes) override;
  void release(void* segment) noexcept override;
  void write(Place to, const void* from, std::size_t bytes) override;
  void read(void* to, Place from, std::size_t bytes) override;
  void xor_words(Place out, Place a, Place b, std::size_t words) override;
  void matmul(const MatmulShape& shape, Place c, Place a, Place b) override;
  void elementwise(Operation operation, float alpha, Place out, Place a, Place b,
                   std::size_t elements) override;
  float reduce(Place a, std::size_t elements) override;
  void graph_search(const GraphPlaces& graph, std::uint32_t source, Place distances) override;

 private:
  // Takes turns, with the device's context as this thread's for as long as one is alive.
  class Turn {
   public:
    explicit Turn(CudaDevice& device) : device_(device), lock_(device.mutex_) {
      device_.open();
      device_.check(device_.driver_.context_push(device_.context_), "cuCtxPushCurrent");
    }
    ~Turn() {
      CUcontext popped = nullptr;
      device_.driver_.context_pop(&popped);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    CudaDevice& device_;
    std::lock_guard<std::mutex> lock_;
  };

  void check(CUresult result, const char* what) const;
  void open();     // once; under the lock
  void prepare();  // kernels and what they need, once; in a turn
  CUfunction kernel(const char* name);
  template <typename... Arguments>
  void launch(const char* name, unsigned groups, Arguments... arguments);
  bool multiply_by_cublas(const MatmulShape& shape, const std::array<std::size_t, 3>& steps,
                          Place c, Place a, Place b);
  void finish() { check(driver_.stream_synchronize(stream_), "cuStreamSynchronize"); }

  const CudaDriver driver_;
  const std::string cublas_name_;
  const CUdevice device_;
  const std::int32_t index_;
  std::mutex mutex_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUmodule module_ = nullptr;
  std::map<std::string, CUfunction> kernels_;
  CUdeviceptr scratch_ = 0;  // sums of threads, then of the second pass; whether a search went on
  bool looked_for_cublas_ = false;
  std::optional<Cublas> cublas_;
  cublasHandle_t cublas_handle_ = nullptr;
};

unsigned groups_for(std::size_t elements) {
  return static_cast<unsigned>(
      std::min<std::size_t>((elements + kGroup - 1) / kGroup, kMostGroups));
}

void CudaDevice::check(CUresult result, const char* what) const {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  driver_.get_error_name(result, &name);
  throw DeviceLost(fmt::format("{}: {} failed: {}", model_.name, what,
                               name != nullptr ? name : "unknown error"));
}

std::string CudaDevice::description() const {
  std::array<char, 256> name = {};
  if (driver_.device_get_name(name.data(), static_cast<int>(name.size()) - 1, device_) !=
      CUDA_SUCCESS) {
    return "CUDA device";
  }
  return name.data();
}

void CudaDevice::open() {
  if (context_ != nullptr) return;
  CUcontext context = nullptr;
  check(driver_.primary_context_retain(&context, device_), "cuDevicePrimaryCtxRetain");
  context_ = context;
}

void CudaDevice::prepare() {
  if (scratch_ != 0) return;
  check(driver_.stream_create(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  check(driver_.module_load_data(&module_, cuda_kernels()), "cuModuleLoadData");
  check(driver_.mem_alloc(&scratch_, (kSums + kGroup) * sizeof(double)), "cuMemAlloc");
}

CudaDevice::~CudaDevice() {
  if (context_ == nullptr) return;
  // At the end of a program the driver may be gone already, which it then says.
  CUcontext popped = nullptr;
  if (driver_.context_push(context_) == CUDA_SUCCESS) {
    if (cublas_handle_ != nullptr) cublas_->destroy(cublas_handle_);
    if (scratch_ != 0) driver_.mem_free(scratch_);
    if (module_ != nullptr) driver_.module_unload(module_);
    if (stream_ != nullptr) driver_.stream_destroy(stream_);
    driver_.context_pop(&popped);
  }
  driver_.primary_context_release(device_);
}

CUfunction CudaDevice::kernel(const char* name) {
  CUfunction& found = kernels_[name];
  if (found == nullptr) {
    check(driver_.module_get_function(&found, module_, name), "cuModuleGetFunction");
  }
  return found;
}

template <typename... Arguments>
void CudaDevice::launch(const char* name, unsigned groups, Arguments... arguments) {
  std::array<void*, sizeof...(Arguments)> pointers = {&arguments...};
  check(driver_.launch_kernel(kernel(name), groups, 1, 1, kGroup, 1, 1, 0, stream_, pointers.data(),
                              nullptr),
        "cuLaunchKernel");
}

void* CudaDevice::allocate(std::size_t bytes) {
  const Turn turn(*this);
  prepare();
  CUdeviceptr segment = 0;
  const CUresult result = driver_.mem_alloc(&segment, std::max<std::size_t>(bytes, 1));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  check(result, "cuMemAlloc");
  return reinterpret_cast<void*>(segment);
}

void CudaDevice::release(void* segment) noexcept {
  if (segment == nullptr) return;
  CUcontext popped = nullptr;
  if (driver_.context_push(context_) != CUDA_SUCCESS) return;
  driver_.mem_free(reinterpret_cast<CUdeviceptr>(segment));
  driver_.context_pop(&popped);
}

void CudaDevice::write(Place to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const Turn turn(*this);
  check(driver_.copy_to_device(address(to), from, bytes, stream_), "cuMemcpyHtoDAsync");
  finish();
}

void CudaDevice::read(void* to, Place from, std::size_t bytes) {
  if (bytes == 0) return;
  const Turn turn(*this);
  check(driver_.copy_to_host(to, address(from), bytes, stream_), "cuMemcpyDtoHAsync");
  finish();
}

void CudaDevice::xor_words(Place out, Place a, Place b, std::size_t words) {
  if (words == 0) return;
  const Turn turn(*this);
  launch("xor_words", groups_for(words), address(out), address(a), address(b), Count{words});
  finish();
}

void CudaDevice::elementwise(Operation operation, float alpha, Place out, Place a, Place b,
                             std::size_t elements) {
  if (elements == 0) return;
  const int number = operation == Operation::add        ? 0
                     : operation == Operation::multiply ? 1
                     : operation == Operation::relu     ? 2
                                                        : 3;
  const Turn turn(*this);
  launch("elementwise", groups_for(elements), address(out), address(a),
         address(operation == Operation::relu ? a : b), Count{elements}, number, alpha);
  finish();
}

// False where there is no cuBLAS.
bool CudaDevice::multiply_by_cublas(const MatmulShape& shape,
                                    const std::array<std::size_t, 3>& steps, Place c, Place a,
                                    Place b) {
  if (!looked_for_cublas_) {
    looked_for_cublas_ = true;
    cublas_ = load_cublas(cublas_name_);
    if (cublas_ && (cublas_->create(&cublas_handle_) != CUBLAS_STATUS_SUCCESS ||
                    cublas_->set_stream(cublas_handle_, stream_) != CUBLAS_STATUS_SUCCESS)) {
      cublas_.reset();
    }
  }
  if (!cublas_) return false;
  // cuBLAS goes by columns: what it takes for its operands are ours transposed, so that it
  // computes cᵀ = bᵀ · aᵀ.
  const auto edge = [](std::size_t size) { return static_cast<int>(size); };
  const auto step = [](std::size_t elements) { return static_cast<long long>(elements); };
  const auto values = [](Place place) { return reinterpret_cast<float*>(address(place)); };
  constexpr float kOne = 1;
  constexpr float kZero = 0;
  const cublasStatus_t status =
      cublas_->multiply(cublas_handle_, CUBLAS_OP_N, CUBLAS_OP_N, edge(shape.columns),
                        edge(shape.rows), edge(shape.inner), &kOne, values(b), edge(shape.columns),
                        step(steps[1]), values(a), edge(shape.inner), step(steps[0]), &kZero,
                        values(c), edge(shape.columns), step(steps[2]), edge(shape.batch));
  if (status == CUBLAS_STATUS_SUCCESS) return true;
  throw DeviceLost(fmt::format("{}: cublasSgemmStridedBatched failed with {}", model_.name,
                               static_cast<int>(status)));
}

void CudaDevice::matmul(const MatmulShape& shape, Place c, Place a, Place b) {
  if (shape.rows == 0 || shape.columns == 0 || shape.batch == 0) return;
  const std::array<std::size_t, 3> steps = {
      shape.stride_a != 0 ? shape.stride_a : shape.rows * shape.inner,
      shape.stride_b != 0 ? shape.stride_b : shape.inner * shape.columns,
      shape.stride_c != 0 ? shape.stride_c : shape.rows * shape.columns};
  const bool is_for_cublas = shape.inner != 0 && shape.batch <= INT32_MAX;
  const Turn turn(*this);
  if (!is_for_cublas || !multiply_by_cublas(shape, steps, c, a, b)) {
    launch("matmul", groups_for(shape.rows * shape.columns * shape.batch), address(c), address(a),
           address(b), Count{shape.rows}, Count{shape.inner}, Count{shape.columns},
           Count{shape.batch}, Count{steps[0]}, Count{steps[1]}, Count{steps[2]});
  }
  finish();
}

float CudaDevice::reduce(Place a, std::size_t elements) {
  if (elements == 0) return 0;
  const unsigned groups = std::min(groups_for(elements), kSumGroups);
  std::array<double, kGroup> sums;
  const Turn turn(*this);
  const CUdeviceptr of_second_pass = scratch_ + kSums * sizeof(double);
  launch("sum", groups, scratch_, address(a), Count{elements});
  launch("sum_parts", 1, of_second_pass, scratch_, Count{groups} * kGroup);
  check(driver_.copy_to_host(sums.data(), of_second_pass, sizeof sums, stream_),
        "cuMemcpyDtoHAsync");
  finish();
  double all = 0;
  for (const double sum : sums) all += sum;
  return static_cast<float>(all);
}

void CudaDevice::graph_search(const GraphPlaces& graph, std::uint32_t source, Place distances) {
  const Turn turn(*this);
  const CUdeviceptr levels = address(distances);
  check(driver_.fill_words(levels, kUnreached, graph.nodes, stream_), "cuMemsetD32Async");
  check(driver_.fill_words(levels + source * sizeof source, 0, 1, stream_), "cuMemsetD32Async");
  std::uint32_t changed = 1;
  for (std::uint32_t level = 0; changed != 0; ++level) {
    check(driver_.fill_words(scratch_, 0, 1, stream_), "cuMemsetD32Async");
    launch("search_level", groups_for(graph.nodes), levels, address(graph.offsets),
           address(graph.targets), Count{graph.nodes}, level, scratch_);
    check(driver_.copy_to_host(&changed, scratch_, sizeof changed, stream_), "cuMemcpyDtoHAsync");
    finish();
  }
}

}  // namespace

std::vector<std::unique_ptr<Device>> cuda_devices(const CudaLibraries& libraries) {
  std::vector<std::unique_ptr<Device>> found;
  const std::optional<CudaDriver> driver = load_cuda_driver(libraries.driver);
  int count = 0;
  if (!driver || driver->init(0) != CUDA_SUCCESS ||
      driver->device_get_count(&count) != CUDA_SUCCESS) {
    return found;
  }
  for (int index = 0; index < count; ++index) {
    CUdevice device = 0;
    if (driver->device_get(&device, index) != CUDA_SUCCESS) continue;
    found.push_back(std::make_unique<CudaDevice>(*driver, libraries.cublas, device, index));
  }
  return found;
}

}  // namespace fathom::runtime
