#include "fathom/memory.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fathom/activity.h"
#include "fathom/profiler.h"
#include "native/parts.h"

namespace fathom::python {
namespace py = pybind11;
namespace {

py::list timeline(const MemoryProfiler& memory) {
  py::list list;
  for (const MemorySample& sample : memory.timeline()) {
    py::dict each;
    each["time_ms"] = sample.time_ms;
    each["allocated_mb"] = sample.allocated_mb;
    each["reserved_mb"] = sample.reserved_mb;
    each["rss_mb"] = sample.rss_mb;
    list.append(each);
  }
  return list;
}

py::list uses(const std::vector<MemoryUse>& all) {
  py::list list;
  for (const MemoryUse& use : all) {
    py::dict each;
    each["scope"] = use.scope.empty() ? py::object(py::none()) : py::object(py::str(use.scope));
    each["call"] = use.call.empty() ? py::object(py::none()) : py::object(py::str(use.call));
    each["allocated_mb"] = use.allocated_mb();
    each["blocks"] = use.blocks;
    list.append(each);
  }
  return list;
}

py::dict peak(const MemoryProfiler& memory) {
  const MemoryPeak found = memory.peak();
  py::dict all;
  all["peak_allocated_mb"] = found.peak_allocated_mb;
  all["peak_time_ms"] = found.peak_time_ms;
  all["peak_rss_mb"] = found.peak_rss_mb;
  all["alive"] = uses(found.alive);
  return all;
}

py::list tracked(const MemoryProfiler& memory) {
  py::list list;
  for (const TrackedMemory& track : memory.tracked()) {
    py::dict each;
    each["name"] = track.name;
    each["count"] = track.count;
    each["change_mb"] = track.change_mb;
    each["peak_mb"] = track.peak_mb;
    each["rss_change_mb"] = track.rss_change_mb;
    list.append(each);
  }
  return list;
}

// Device memory that a recorder in Python knows of, as from the allocator of PyTorch.
void record(std::int64_t bytes, std::optional<std::uint64_t> address, std::int32_t device,
            std::optional<std::int64_t> reserved, const std::string& call) {
  Profiler& all = profiler();
  MemoryRecord record;
  record.time_ns = now_ns();
  record.bytes = bytes;
  record.device = device;
  record.address = address;
  record.scope = all.innermost_scope();
  record.name = Name(call);
  record.total_reserved = reserved;
  all.record(record);
}

}  // namespace

void add_memory(py::module_& module) {
  py::class_<MemoryTrack>(module, "MemoryTrack").def("end", &MemoryTrack::end);
  py::class_<MemoryProfiler>(module, "MemoryProfiler")
      .def(py::init([](double interval_ms, bool record_history) {
        return std::make_unique<MemoryProfiler>(MemoryOptions{interval_ms, record_history});
      }))
      .def("start", &MemoryProfiler::start, py::call_guard<py::gil_scoped_release>())
      .def("stop", &MemoryProfiler::stop, py::call_guard<py::gil_scoped_release>())
      .def("track",
           [](MemoryProfiler& memory, const std::string& name) { return memory.track(name); })
      .def("timeline", timeline)
      .def("peak", peak)
      .def("leaks", [](const MemoryProfiler& memory) { return uses(memory.leaks()); })
      .def("tracked", tracked)
      .def("export_json", &MemoryProfiler::export_json, py::call_guard<py::gil_scoped_release>());
  module.def("record_memory", record);
}

}  // namespace fathom::python
