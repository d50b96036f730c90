#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/export.h"
#include "fathom/operation.h"

// Where should this run? Answered from what this machine measured: link fathom::runtime.
//
//   #include <fathom/router.h>
//
//   fathom::Router router = fathom::Router::of_this_machine();
//   const fathom::Route route = router.route(fathom::Operation::matmul, 1024);
//   std::puts(router.reason(route).c_str());
namespace fathom {

// One call, measured.
struct CallTime {
  double size = 0;
  double ns = 0;  // on the device, without transfers
};

// cost = launch + transfer + a·n^b, and corrections of it where calls were measured. The first
// device is the host. Any thread may call anything; route() takes no lock.
using DeviceIndex = std::uint32_t;
inline constexpr DeviceIndex kHost = 0;

enum class RouteCause : std::uint8_t {
  fastest,
  only_device,  // all others are lost, or their memory is too small
  exploring,    // not the fastest as far as is known, but that was long ago
  told_by_code,
  told_by_environment,
  told_by_file,
};

struct Route {
  Operation operation = Operation::xor_words;
  DeviceIndex device = kHost;
  DeviceIndex other = kHost;  // the next best; the same where there is none
  DeviceIndex where = kHost;  // where the data is
  RouteCause cause = RouteCause::only_device;
  double size = 0;
  double bytes = 0;        // that it reads and writes
  double expected_ns = 0;  // with transfers
  double other_ns = 0;
};

// Of one operation on one device, since the router was made.
struct RouteStatistics {
  Operation operation = Operation::xor_words;
  DeviceIndex device = kHost;
  std::uint64_t calls = 0;
  std::uint64_t explored = 0;  // of these
  double total_ns = 0;
  double mean_error = 0;           // of predictions: 0.1 is 10 %
  std::uint64_t level_shifts = 0;  // the device became abruptly faster or slower
};

struct RouterOptions {
  // Exploring may cost this share of the time that was spent. 0: never. What an exploring call
  // really cost is charged: one that took longer than expected is paid back before the next.
  double exploration_share = 0.01;
  // A call explores only where it is expected to take at most this many times the best.
  double exploration_bound = 10;
  // FATHOM_ROUTE in the environment: "matmul=cpu,*=opencl:0". Absent: not asked for.
  std::optional<std::string> environment = {};
};

class FATHOM_API Router {
 public:
  explicit Router(std::vector<DeviceModel> devices, const RouterOptions& options = {});
  ~Router();
  Router(Router&& other) noexcept;
  Router& operator=(Router&& other) noexcept;

  // From the machine's profile (`fathom tune` makes it), and from defaults for a CPU without one.
  // A profile that is damaged, old or another machine's is left aside, which is said in one line
  // on standard error.
  static Router of_this_machine(const RouterOptions& options = {});

  const std::vector<DeviceModel>& devices() const;
  std::optional<DeviceIndex> device_named(std::string_view name) const;

  // Data are at `where`, and the result is wanted there. Sizes below 1 are taken for 1. `bytes` is
  // what the operation reads and writes, by which transfers and room on a device are judged;
  // absent, it is what the size says: of a product, that of a square. A device that does not exist
  // throws std::runtime_error, here and below.
  Route route(Operation operation, double size, DeviceIndex where = kHost,
              std::optional<double> bytes = {}) const;
  std::string reason(const Route& route) const;  // one line
  // What it would take, with transfers; nothing where the device is lost or has no room.
  std::optional<double> expected_ns(Operation operation, double size, DeviceIndex device,
                                    DeviceIndex where = kHost,
                                    std::optional<double> bytes = {}) const;

  // What a call took on its device, without transfers; and in all, with transfers and what it had
  // to wait for, where that is known.
  void learn(const Route& route, double ns, std::optional<double> whole_ns = {});
  // The same of a call that says nothing of the next, because it warmed up or failed: what it took
  // is charged, where it explored.
  void charge(const Route& route, double whole_ns);
  // What a transfer took.
  void learn_transfer(DeviceIndex device, std::size_t bytes, double ns);
  // Calls measured at leisure: the curve of a profile. Replaces what was known.
  void calibrate(Operation operation, DeviceIndex device, const std::vector<CallTime>& calls);

  bool is_calibrated(Operation operation, DeviceIndex device) const;

  // From now on, whatever it costs; nothing: as measured. Stronger than environment and file.
  void force(Operation operation, std::optional<DeviceIndex> device);
  // As a file says: weaker than code and environment.
  void force_by_file(Operation operation, DeviceIndex device);

  void lose(DeviceIndex device);  // it does not answer any more
  bool is_lost(DeviceIndex device) const;

  std::vector<RouteStatistics> statistics() const;  // of what ran, by operation and device

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom
