#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fathom/gpu_device.h"

namespace fathom::record {

// What devices did over time as a Perfetto trace: a counter track per device and metric
// (utilisation, memory, temperature, power, clock). Its clock is that of run files, so that the
// bytes of both one after the other are a trace of both.
class DeviceTrace {
 public:
  // The bytes of a trace may be written as they come; what is there at any time is a whole trace.
  std::string start(const std::string& command, std::int64_t unix_ns,
                    std::int64_t monotonic_raw_ns);
  std::string sample(std::int64_t unix_ns, const std::vector<GpuDevice>& devices);

 private:
  std::uint64_t track_of(const GpuDevice& device, std::size_t metric, std::string& out);

  std::int64_t unix_offset_ns_ = 0;  // from the trace's clock to Unix time
  std::map<std::pair<std::string, std::size_t>, std::uint64_t> tracks_;  // by uuid and metric
};

}  // namespace fathom::record
