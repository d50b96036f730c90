#pragma once

#include <atomic>

#include "fathom/activity.h"
#include "runtime/device.h"

namespace fathom::runtime {

// A device that does not exist: results are the CPU's, time is its model's. Where the CPU takes
// longer than the model says, so does this. The profiler sees its work as that of a GPU.
class SimulatedDevice : public Device {
 public:
  SimulatedDevice(const DeviceModel& model, Clock& clock, std::int32_t gpu = 0);

  const char* backend() const override { return "simulated"; }
  std::string description() const override;
  std::optional<std::int32_t> gpu() const override { return gpu_; }

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

  // What goes wrong with devices.
  void slow_down(double factor) { slowdown_ = factor; }           // 1: as new
  void disappear_after(int calls) { calls_until_lost_ = calls; }  // transfers and operations
  void take_to_open(std::int64_t ns) { opening_ns_ = ns; }        // at its first allocation
  std::size_t allocated_bytes() const { return allocated_; }

 private:
  // Does the work and has the clock say that it took `ns`.
  template <typename Work>
  void take(GpuActivity activity, double ns, const Work& work);
  template <typename Work>
  void compute(Operation operation, double size, const Work& work);
  template <typename Work>
  void copy(CopyDirection direction, std::size_t bytes, const Work& work);

  std::unique_ptr<Device> cpu_;
  Clock& clock_;
  std::int32_t gpu_;
  std::atomic<double> slowdown_ = 1;
  std::atomic<int> calls_until_lost_ = -1;  // negative: it stays
  std::atomic<std::size_t> allocated_ = 0;
  std::atomic<std::int64_t> opening_ns_ = 0;
};

}  // namespace fathom::runtime
