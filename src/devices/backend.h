#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "fathom/gpu_device.h"

// One source of devices: a driver's library, files of the kernel, or a program. A backend is used
// by one thread at a time, its own (watcher.h), and may take as long as its driver likes.
namespace fathom::devices {

inline constexpr double kMhz = 1e6;  // hertz; drivers tell clocks in megahertz

// What to ask for; less is cheaper.
struct Wanted {
  bool processes = true;
  bool thermal = true;
  bool power = true;
  bool memory = true;
};

struct Look {
  std::vector<GpuDevice> devices;   // with state and reading; `index` is counted within the backend
  std::vector<DeviceError> errors;  // new since the last look
  bool is_here = true;  // false where there is nothing for the backend on this machine, so far
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual const char* name() const = 0;
  // All devices that are there now. Finds new ones when `discover` is set; else it may look only at
  // those it knows. Throws base::Error where the backend as a whole does not work; one device that
  // does not answer is in the list with its state.
  virtual Look look(const Wanted& wanted, bool discover) = 0;
};

// Where the files of the kernel are; elsewhere in tests.
struct Roots {
  std::string sys = "/sys";
  std::string proc = "/proc";
  std::string share = "/usr/share";  // lists of the names of GPUs
};

// Each returns null where there is nothing for it here at the moment: no library, no card of the
// vendor, no program.
// The library is $FATHOM_NVML, else libnvidia-ml.so.1.
std::unique_ptr<Backend> nvml_backend(const Roots& roots = {});
std::unique_ptr<Backend> amd_backend(const Roots& roots = {});
std::unique_ptr<Backend> intel_backend(const Roots& roots = {});
// Devices that no other backend tells of. The library is $FATHOM_OPENCL, else libOpenCL.so.1.
std::unique_ptr<Backend> opencl_backend(const Roots& roots = {});
// Where NVML does not load. The program is $FATHOM_NVIDIA_SMI, else nvidia-smi of $PATH; one that
// takes longer than that is ended.
std::unique_ptr<Backend> nvidia_smi_backend(
    const Roots& roots = {}, std::chrono::milliseconds at_most = std::chrono::seconds(5));
std::unique_ptr<Backend> demo_backend(unsigned seed = 1);  // two lively GPUs that do not exist

// All of them, as configured. What there is nothing for yet is looked for again at each discovery:
// a driver may be loaded, and a card come, while we watch.
struct Choice {
  bool nvidia = true;
  bool opencl = true;
  bool is_demo = false;  // the demo and nothing else
};
std::vector<std::unique_ptr<Backend>> backends(const Choice& choice = {}, const Roots& roots = {});

}  // namespace fathom::devices
