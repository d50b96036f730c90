#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fathom/export.h"
#include "fathom/memory_pool.h"
#include "fathom/operation.h"
#include "fathom/router.h"

// Operations that run where they are fastest: link fathom::runtime.
//
//   #include <fathom/compute.h>
//
//   fathom::Compute compute;
//   compute.matmul({.rows = 512, .inner = 512, .columns = 512}, c, a, b);
namespace fathom {

struct ComputeOptions {
  bool uses_cuda = true;
  bool uses_opencl = true;
  // Devices that do not exist, beside those that do: they compute on the CPU and take the time that
  // their models say.
  std::vector<DeviceModel> simulated = {};
  bool uses_machine_profile = true;  // what `fathom tune` measured
  RouterOptions router = {};
};

// What became of a call.
struct Ran {
  Route route;             // where it ran, and what was expected
  double took_ns = 0;      // on the device
  double transfer_ns = 0;  // to it and back
  double prepare_ns = 0;  // until there was memory: the first call of a device compiles its kernels
};

// Something the program may want to know of; the result was right all the same.
struct ComputeEvent {
  std::string device;
  std::string what;  // one line: "opencl:0: the device does not answer; continuing without it"
};

inline constexpr std::uint32_t kNotReached = UINT32_MAX;  // of a graph search

// Values that stay on a device from one operation to the next: Compute::put() makes them, and their
// memory goes back with the last copy of this, before the Compute.
class FATHOM_API DeviceData {
 public:
  DeviceIndex where() const;
  std::size_t elements() const;

  struct Content;
  const Content& content() const { return *content_; }  // for the library's own parts
  explicit DeviceData(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

 private:
  std::shared_ptr<const Content> content_;
};

// All devices of this machine, a router over them, and a pool of memory for each. Operations take
// data of the host and give results there, or work on data that was put on a device. A device that
// fails in the middle is left for good, and what it was doing is done again elsewhere; one without
// enough memory is passed over. Arguments that do not fit together throw std::runtime_error. Any
// thread may call anything.
class FATHOM_API Compute {
 public:
  explicit Compute(const ComputeOptions& options = {});
  ~Compute();
  Compute(const Compute&) = delete;
  Compute& operator=(const Compute&) = delete;

  // `out` may be `a` or `b`.
  Ran xor_words(std::span<std::uint32_t> out, std::span<const std::uint32_t> a,
                std::span<const std::uint32_t> b);
  Ran matmul(const MatmulShape& shape, std::span<float> c, std::span<const float> a,
             std::span<const float> b);
  Ran add(std::span<float> out, std::span<const float> a, std::span<const float> b);
  Ran multiply(std::span<float> out, std::span<const float> a, std::span<const float> b);
  Ran relu(std::span<float> out, std::span<const float> a);
  Ran saxpy(float alpha, std::span<float> out, std::span<const float> a, std::span<const float> b);
  Ran reduce(float& sum, std::span<const float> a);
  // Breadth first over compressed rows: offsets of nodes + 1 entries, the last is the number of
  // targets. Distances count edges from `source`.
  Ran graph_search(std::span<std::uint32_t> distances, std::span<const std::uint32_t> offsets,
                   std::span<const std::uint32_t> targets, std::uint32_t source);

  // Data on a device, and operations on it. The router knows where it is: an operation runs there
  // without transfers, or elsewhere where that is faster with them. All of a call is on one device.
  // Throws OutOfMemory where there is no room, std::runtime_error where the device, and with it the
  // data, is lost.
  DeviceData put(DeviceIndex device, std::span<const float> values);
  void get(std::span<float> values, const DeviceData& from);
  Ran matmul(const MatmulShape& shape, const DeviceData& c, const DeviceData& a,
             const DeviceData& b);
  // add, multiply, relu (b is ignored) or saxpy. `out` may be `a` or `b`.
  Ran elementwise(Operation operation, const DeviceData& out, const DeviceData& a,
                  const DeviceData& b, float alpha = 1);

  Router& router();
  MemoryPool& pool(DeviceIndex device);  // of the host: for scratch memory
  std::string description(DeviceIndex device) const;
  void on_event(std::function<void(const ComputeEvent&)> listener);

  struct State;
  State& state() { return *state_; }  // for the library's own parts
  explicit Compute(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace fathom
