// The module fathom._runtime: router, computing, lattice, batches and the memory monitor of
// libfathom_runtime. It is loaded only by programs that ask for it: it brings OpenBLAS.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fathom/batch.h"
#include "fathom/figures.h"
#include "fathom/lattice.h"
#include "fathom/memory_monitor.h"
#include "fathom/router.h"
#include "native/errors.h"
#include "native/long_work.h"

namespace fathom::python {
namespace py = pybind11;
namespace {

using Words = std::vector<std::uint32_t>;
using WithoutGil = py::call_guard<py::gil_scoped_release>;

// Whatever bytes an object shows, as whole words; what is missing of the last is 0.
Words words_of(const py::buffer& data) {
  Py_buffer view;
  if (PyObject_GetBuffer(data.ptr(), &view, PyBUF_C_CONTIGUOUS) != 0) throw py::error_already_set();
  const auto bytes = static_cast<std::size_t>(view.len);
  Words words((bytes + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t));
  if (bytes > 0) std::memcpy(words.data(), view.buf, bytes);
  PyBuffer_Release(&view);
  return words;
}

py::bytes bytes_of(const Words& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::uint32_t)};
}

// Lattices of one Compute; what a word is XORed with depends on the node that it falls on. Python's
// threads may transform at the same time, and the lattice takes one at a time.
struct PythonLattice {
  std::shared_ptr<Compute> compute;
  Lattice lattice;
  std::mutex mutex = {};
  std::uint64_t key = 0;
  Words mask = {};  // of the key

  PythonLattice(std::shared_ptr<Compute> made_with, Lattice built)
      : compute(std::move(made_with)), lattice(std::move(built)) {}

  // Under the lock.
  Words mask_for(std::uint64_t wanted, std::size_t words) {
    if (mask.empty() || key != wanted) {
      const std::span<std::uint32_t> state = lattice.state();
      std::fill(state.begin(), state.end(), 0);
      lattice.xor_transform(wanted);
      mask.assign(state.begin(), state.end());
      key = wanted;
    }
    Words repeated(words);
    for (std::size_t i = 0; i < words; ++i) repeated[i] = mask[i % mask.size()];
    return repeated;
  }
};
using SharedLattice = std::shared_ptr<PythonLattice>;

// A thread for the work, so that Ctrl-C is heard, takes longer than small work does.
constexpr std::size_t kLong = 1'000'000;  // words or nodes: a millisecond or so

template <typename Work>
void do_work(std::size_t size, Work work) {
  if (size >= kLong) return do_long_work(std::move(work));
  const py::gil_scoped_release released;
  work();
}

std::size_t nodes_of(const LatticeOptions& options) {
  return static_cast<std::size_t>(
      std::min(std::pow(static_cast<double>(options.size), options.dimensions), 1e18));
}

SharedLattice make_lattice(std::shared_ptr<Compute> compute, unsigned dimensions, std::size_t size,
                           std::vector<std::uint32_t> obstacles,
                           std::vector<std::uint32_t> weights) {
  const LatticeOptions options{dimensions, size, std::move(obstacles), std::move(weights)};
  const auto made = std::make_shared<SharedLattice>();
  do_work(nodes_of(options),
          [=] { *made = std::make_shared<PythonLattice>(compute, Lattice(*compute, options)); });
  return *made;
}

py::bytes xor_transform(const SharedLattice& self, const py::buffer& data, std::uint64_t key) {
  const auto words = std::make_shared<Words>(words_of(data));
  do_work(words->size() + self->lattice.nodes(), [=] {
    const std::lock_guard lock(self->mutex);
    const Words mask = self->mask_for(key, words->size());
    if (!words->empty()) self->compute->xor_words(*words, *words, mask);
  });
  return bytes_of(*words);
}

py::object shortest_path(const SharedLattice& self, std::uint32_t from, std::uint32_t to,
                         const std::string& search) {
  PathSearch way = PathSearch::breadth_first;
  if (search == "a_star") way = PathSearch::a_star;
  if (search == "bidirectional") way = PathSearch::bidirectional;
  struct Found {
    std::optional<LatticePath> path;
    double ms = 0;
  };
  const auto found = std::make_shared<Found>();
  do_work(self->lattice.nodes(), [=] {
    const auto began = std::chrono::steady_clock::now();
    found->path = self->lattice.find_shortest_path(from, to, way);
    const auto took = std::chrono::steady_clock::now() - began;
    found->ms =
        static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()) /
        kNsPerMs;
  });
  if (!found->path) return py::make_tuple(py::none(), found->ms, py::none());
  return py::make_tuple(found->path->nodes, found->ms, found->path->cost);
}

py::dict structure(const SharedLattice& self) {
  const auto made = std::make_shared<LatticeStructure>();
  do_work(self->lattice.nodes(), [=] { *made = self->lattice.analyze_structure(); });
  const LatticeStructure& found = *made;
  py::dict all;
  all["nodes"] = found.nodes;
  all["obstacles"] = found.obstacles;
  all["edges"] = found.edges;
  all["components"] = found.components;
  all["largest_component"] = found.largest_component;
  all["least_degree"] = found.least_degree;
  all["most_degree"] = found.most_degree;
  all["mean_degree"] = found.mean_degree;
  all["diameter_at_least"] = found.diameter_at_least;
  return all;
}

// XOR of many arrays, each with the mask of a lattice.
struct BatchXor {
  std::vector<SharedLattice> lattices;
  std::vector<Words> words = {};
  std::size_t calls = 0;
  double took_ns = 0;

  void run(std::uint64_t key, std::size_t most) {
    std::vector<Words> masks;
    for (std::size_t i = 0; i < words.size(); ++i) {
      PythonLattice& lattice = *lattices[i % lattices.size()];
      const std::lock_guard lock(lattice.mutex);
      masks.push_back(lattice.mask_for(key, words[i].size()));
    }
    const std::lock_guard lock(lattices.front()->mutex);  // whose Compute works
    Batch batch(*lattices.front()->compute);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!words[i].empty()) batch.xor_words(words[i], words[i], masks[i]);
      if (batch.size() < most && i + 1 < words.size()) continue;
      if (batch.size() == 0) continue;
      const BatchResult result = batch.run();
      calls += result.calls;
      took_ns += result.took_ns;
      if (!result.failures.empty()) throw std::runtime_error(result.failures.front().what);
    }
  }
};

py::tuple batch_xor(const std::vector<SharedLattice>& lattices, const std::vector<py::buffer>& data,
                    std::uint64_t key, std::size_t most) {
  const auto batch = std::make_shared<BatchXor>(BatchXor{lattices});
  std::size_t size = 0;
  for (const py::buffer& each : data) size += batch->words.emplace_back(words_of(each)).size();
  for (const SharedLattice& lattice : lattices) size += lattice->lattice.nodes();
  do_work(size, [=] { batch->run(key, most); });
  py::list out;
  for (const Words& each : batch->words) out.append(bytes_of(each));
  return py::make_tuple(out, batch->calls, batch->took_ns / kNsPerMs);
}

// Functions of Python, and what they returned or raised, by place.
struct ParallelCalls {
  std::vector<py::function> functions;
  std::vector<py::object> results = {};
  ParallelResult done = {};

  void run() {
    std::vector<std::function<void()>> calls;
    for (std::size_t i = 0; i < functions.size(); ++i) {
      calls.emplace_back([this, i] {
        const py::gil_scoped_acquire acquired;
        try {
          results[i] = functions[i]();
        } catch (py::error_already_set& error) {
          results[i] = py::reinterpret_borrow<py::object>(error.value());
          throw std::runtime_error("failed");
        }
      });
    }
    done = execute_parallel(calls);
  }
};

// Functions of Python take turns with the GIL; those that release it, as NumPy does, run beside
// each other.
py::tuple execute_in_parallel(std::vector<py::function> functions) {
  // Released with the GIL, wherever the last copy goes.
  const std::shared_ptr<ParallelCalls> calls(new ParallelCalls{std::move(functions)},
                                             [](ParallelCalls* all) {
                                               const py::gil_scoped_acquire acquired;
                                               delete all;
                                             });
  calls->results.resize(calls->functions.size());
  do_long_work([calls] { calls->run(); });
  py::list out;
  for (const py::object& result : calls->results) out.append(result ? result : py::none());
  return py::make_tuple(out, calls->done.failed, calls->done.took_ns / kNsPerMs);
}

py::dict monitor_statistics(const MemoryMonitor& monitor) {
  const MonitorStatistics found = monitor.statistics();
  py::list sources;
  for (const SourceStatistics& source : found.sources) {
    py::dict each;
    each["source"] = source.source;
    each["used_mb"] = source.level ? py::cast(mb_of(source.level->used_bytes)) : py::none();
    each["total_mb"] = source.level ? py::cast(mb_of(source.level->total_bytes)) : py::none();
    each["peak_mb"] = mb_of(source.peak_bytes);
    each["pressure"] = std::string(name_of(source.pressure));
    sources.append(each);
  }
  py::dict all;
  all["sources"] = sources;
  all["clean_ups"] = found.clean_ups;
  all["freed_mb"] = mb_of(static_cast<double>(found.freed_bytes));
  all["events"] = found.events;
  return all;
}

void on_clean_up(MemoryMonitor& monitor, int priority, py::function clean_up) {
  // Released with the GIL, wherever the last copy goes.
  const std::shared_ptr<py::function> kept(new py::function(std::move(clean_up)),
                                           [](py::function* f) {
                                             const py::gil_scoped_acquire acquired;
                                             delete f;
                                           });
  monitor.on_clean_up(priority, [kept](std::size_t wanted) -> std::size_t {
    const py::gil_scoped_acquire acquired;
    try {
      const py::object freed = (*kept)(mb_of(wanted));
      return freed.is_none() ? 0 : static_cast<std::size_t>(freed.cast<double>() * kBytesPerMb);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("clean-up of fathom.runtime");
      return 0;
    }
  });
}

void add_watched(MemoryMonitor& monitor, const std::string& which) {
  if (which == "host") return monitor.add(host_level());
  for (MemorySource& source : device_levels()) monitor.add(std::move(source));
}

py::dict route(const Router& router, const std::string& operation, double size) {
  const auto known = operation_named(operation);
  if (!known) throw py::value_error("unknown operation '" + operation + "'");
  const Route found = router.route(*known, size);
  py::dict all;
  all["operation"] = operation;
  all["size"] = found.size;
  all["device"] = router.devices()[found.device].name;
  all["expected_ms"] = found.expected_ns / kNsPerMs;
  all["reason"] = router.reason(found);
  return all;
}

}  // namespace

PYBIND11_MODULE(_runtime, module) {
  py::register_local_exception_translator(raise_error);
  finish_long_work_at_exit();
  py::class_<Compute, std::shared_ptr<Compute>>(module, "Compute")
      .def(py::init([](bool uses_gpu, const std::optional<std::string>& forced) {
             ComputeOptions options;
             options.uses_opencl = uses_gpu;
             options.router.environment = forced;
             return std::make_shared<Compute>(options);
           }),
           WithoutGil())
      .def("devices",
           [](Compute& compute) {
             std::vector<std::string> names;
             for (const DeviceModel& device : compute.router().devices())
               names.push_back(device.name);
             return names;
           })
      .def("force",
           [](Compute& compute, const std::string& device) {
             const auto index = compute.router().device_named(device);
             if (!index) throw py::value_error("no device " + device);
             for (std::size_t i = 0; i < kOperations; ++i) {
               compute.router().force(static_cast<Operation>(i), *index);
             }
           })
      .def("route", [](Compute& compute, const std::string& operation, double size) {
        return route(compute.router(), operation, size);
      });
  py::class_<Router>(module, "Router")
      .def(py::init([] { return std::make_unique<Router>(Router::of_this_machine()); }),
           WithoutGil())
      .def("route", route);
  py::class_<PythonLattice, SharedLattice>(module, "Lattice")
      .def(py::init(&make_lattice))
      .def("nodes", [](const PythonLattice& self) { return self.lattice.nodes(); })
      .def("node_at",
           [](const PythonLattice& self, const std::vector<std::size_t>& coordinates) {
             return self.lattice.node_at(coordinates);
           })
      .def("coordinates", [](const PythonLattice& self,
                             std::uint32_t node) { return self.lattice.coordinates(node); })
      .def("xor_transform", xor_transform)
      .def("shortest_path", shortest_path)
      .def("structure", structure);
  module.def("batch_xor", batch_xor);
  module.def("execute_parallel", execute_in_parallel);
  py::class_<MemoryMonitor>(module, "MemoryMonitor")
      .def(py::init<>())
      .def("add", add_watched, WithoutGil())
      .def("look", &MemoryMonitor::look, WithoutGil())
      .def(
          "can_allocate",
          [](MemoryMonitor& monitor, double mb) { return monitor.can_allocate(mb); }, WithoutGil())
      .def(
          "clean_up",
          [](MemoryMonitor& monitor, double mb) {
            const auto wanted = mb < 0 ? SIZE_MAX : static_cast<std::size_t>(mb * kBytesPerMb);
            return mb_of(monitor.clean_up(wanted));
          },
          WithoutGil())
      .def("on_clean_up", on_clean_up)
      .def("pressure",
           [](const MemoryMonitor& monitor) { return std::string(name_of(monitor.pressure())); })
      .def("statistics", monitor_statistics);
}

}  // namespace fathom::python
