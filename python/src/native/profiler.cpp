// The profiler's figures as tuples, in the order of the fields of fathom/profiler.py.
#include "fathom/profiler.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "fathom/opencl.h"
#include "native/parts.h"
#include "scopes/details.h"

namespace fathom::python {
namespace py = pybind11;
namespace {

constexpr double kNsPerSecond = 1e9;

// Also the one that lives as long as the process.
struct Handle {
  std::shared_ptr<Profiler> own;
  Profiler* profiler = nullptr;
};

Handle make(bool enabled, std::optional<std::int32_t> device_id, double sample_rate,
            std::size_t max_entries) {
  auto own = std::make_shared<Profiler>(Options{enabled, device_id, sample_rate, max_entries});
  return {own, own.get()};
}

// What a scope begins with and keeps, so that no profiler goes before its scopes.
py::capsule capsule(const Handle& handle) {
  auto* const kept = new std::shared_ptr<Profiler>(handle.own);
  PyObject* const made = PyCapsule_New(handle.profiler, kProfilerCapsule, [](PyObject* object) {
    delete static_cast<std::shared_ptr<Profiler>*>(PyCapsule_GetContext(object));
  });
  if (made == nullptr) throw py::error_already_set();
  PyCapsule_SetContext(made, kept);
  return py::reinterpret_steal<py::capsule>(made);
}

py::dict attributes_of(const Entry& entry) {
  py::dict attributes;
  for (const Attribute& attribute : entry.attributes) {
    attributes[py::str(attribute.name)] = std::visit(
        [](const auto& value) -> py::object { return py::cast(value); }, attribute.value);
  }
  return attributes;
}

py::tuple entry_tuple(const Entry& entry) {
  return py::make_tuple(entry.operation, static_cast<double>(entry.start_time) / kNsPerSecond,
                        static_cast<double>(entry.end_time) / kNsPerSecond, entry.duration_ms(),
                        entry.device, entry.backend, entry.gpu_time_ms(), entry.cpu_time_ms(),
                        entry.transfer_time_ms(), entry.overhead_ms(), entry.memory_allocated_mb(),
                        entry.memory_peak_mb(), entry.gpu_utilization(),
                        entry.memory_bandwidth_gb_s(), attributes_of(entry), entry.thread,
                        entry.parent, entry.failed);
}

py::list entry_list(const std::vector<Entry>& entries) {
  py::list list;
  for (const Entry& entry : entries) list.append(entry_tuple(entry));
  return list;
}

py::dict summary_dict(const Summaries& summaries) {
  py::dict all;
  for (const auto& [operation, figures] : summaries) {
    all[py::str(operation)] = py::make_tuple(
        operation, figures.calls, figures.total_time_ms(), figures.avg_time_ms(),
        figures.min_time_ms(), figures.max_time_ms(), figures.std_dev_ms(),
        figures.total_gpu_time_ms(), figures.total_cpu_time_ms(), figures.avg_memory_mb(),
        figures.avg_gpu_utilization, figures.p50_ms(), figures.p95_ms(), figures.p99_ms(),
        figures.self_time_ms(), figures.total_transfer_time_ms(), figures.total_overhead_ms(),
        figures.peak_memory_mb(), figures.errors);
  }
  return all;
}

py::list bottleneck_list(const std::vector<Bottleneck>& bottlenecks) {
  py::list list;
  for (const Bottleneck& each : bottlenecks) {
    list.append(py::make_tuple(each.operation, each.calls, each.self_time_ms(), each.share,
                               each.cumulative_share,
                               each.dominated_by.empty() ? py::object(py::none())
                                                         : py::object(py::str(each.dominated_by))));
  }
  return list;
}

py::dict drops_dict(const Drops& drops) {
  py::dict all;
  all["entries"] = drops.entries;
  all["recorded_scopes"] = drops.recorded_scopes;
  all["activities"] = drops.activities;
  all["lost_scopes"] = drops.lost_scopes;
  return all;
}

template <typename Ask>
auto without_gil(const Handle& handle, const Ask& ask) {
  const py::gil_scoped_release released;
  return ask(*handle.profiler);
}

}  // namespace

void add_profiler(py::module_& module) {
  using H = const Handle&;
  py::class_<Handle>(module, "Profiler")
      .def(py::init(&make))
      .def("capsule", &capsule)
      .def("enable", [](H handle, bool on) { handle.profiler->enable(on); })
      .def("enabled", [](H handle) { return handle.profiler->enabled(); })
      .def("reset", [](H handle) { handle.profiler->reset(); })
      .def("configure",
           [](H handle, bool enabled, std::optional<std::int32_t> device_id, double sample_rate,
              std::size_t max_entries) {
             handle.profiler->configure({enabled, device_id, sample_rate, max_entries});
           })
      .def("entries",
           [](H h) { return entry_list(without_gil(h, [](Profiler& p) { return p.entries(); })); })
      .def(
          "summary",
          [](H h) { return summary_dict(without_gil(h, [](Profiler& p) { return p.summary(); })); })
      .def(
          "bottlenecks",
          [](H h, std::size_t top) {
            return bottleneck_list(without_gil(h, [&](Profiler& p) { return p.bottlenecks(top); }));
          })
      .def("drops",
           [](H h) { return drops_dict(without_gil(h, [](Profiler& p) { return p.drops(); })); })
      .def("summary_text",
           [](H h) { return without_gil(h, [](Profiler& p) { return p.summary_text(); }); })
      .def("bottlenecks_text",
           [](H h, std::size_t top) {
             return without_gil(h, [&](Profiler& p) { return p.bottlenecks_text(top); });
           })
      .def("export_json",
           [](H h, const std::string& path) {
             without_gil(h, [&](Profiler& p) { p.export_json(path); });
           })
      .def("start_recording",
           [](H h, const std::string& path) {
             return without_gil(h, [&](Profiler& p) { return p.start_recording(path); });
           })
      .def("stop_recording", [](H h) { without_gil(h, [](Profiler& p) { p.stop_recording(); }); });
  module.def("record_opencl", record_opencl);
  module.def("global_profiler", [] { return Handle{nullptr, &profiler()}; });
}

}  // namespace fathom::python
