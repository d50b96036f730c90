#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fathom/operation.h"
#include "runtime/clock.h"

// A device that computes: one interface, one folder per backend. tests/runtime/conformance_test.cpp
// runs over all of them.
namespace fathom::runtime {

// Somewhere in memory of a device: what allocate() gave, and an offset in bytes into it.
struct Place {
  void* segment = nullptr;
  std::size_t offset = 0;
};

// Compressed rows: the targets of node i are targets[offsets[i]] … targets[offsets[i + 1] - 1].
// Words of 32 bits, nodes + 1 and edges of them.
struct GraphPlaces {
  Place offsets;
  Place targets;
  std::size_t nodes = 0;
  std::size_t edges = 0;
};

// It is gone, or does not work any more; what it was doing did not happen.
struct DeviceLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr std::uint32_t kUnreached = UINT32_MAX;  // of a graph search

// All operations have happened when they return. Sizes and places are the caller's to check. Any
// thread may call; what is called at once is done in some order, or at once. All but release()
// throw DeviceLost; OutOfMemory where a driver notices only then that it has no room.
class Device {
 public:
  explicit Device(DeviceModel model) : model_(std::move(model)) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  const DeviceModel& model() const { return model_; }
  virtual const char* backend() const = 0;      // "cpu", "cuda", "opencl", "simulated"
  virtual std::string description() const = 0;  // for people
  // Its number for the profiler, as recorders count; nothing: the host.
  virtual std::optional<std::int32_t> gpu() const { return std::nullopt; }

  virtual void* allocate(std::size_t bytes) = 0;  // null where there is no room
  virtual void release(void* segment) noexcept = 0;
  virtual void write(Place to, const void* from, std::size_t bytes) = 0;
  virtual void read(void* to, Place from, std::size_t bytes) = 0;

  // `out` may be one of the operands, but not overlap it otherwise.
  virtual void xor_words(Place out, Place a, Place b, std::size_t words) = 0;
  // c = a · b, each row-major and dense; c overlaps nothing.
  virtual void matmul(const MatmulShape& shape, Place c, Place a, Place b) = 0;
  // add, multiply: a and b; relu: a; saxpy: alpha · a + b.
  virtual void elementwise(Operation operation, float alpha, Place out, Place a, Place b,
                           std::size_t elements) = 0;
  virtual float reduce(Place a, std::size_t elements) = 0;  // the sum
  // Breadth first: how many edges each node is away from `source`, else kUnreached.
  virtual void graph_search(const GraphPlaces& graph, std::uint32_t source, Place distances) = 0;

 protected:
  DeviceModel model_;
};

std::unique_ptr<Device> cpu_device();
// `gpu` is its number for the profiler.
std::unique_ptr<Device> simulated_device(const DeviceModel& model, Clock& clock,
                                         std::int32_t gpu = 0);

}  // namespace fathom::runtime
