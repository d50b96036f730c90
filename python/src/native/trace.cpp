// Traces: their columns as buffers, without copying, and what the commands say of them, in the JSON
// that they write.
#include "trace/trace.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/output.h"
#include "explain/analysis.h"
#include "native/long_work.h"
#include "native/parts.h"
#include "native/said.h"
#include "trace/read.h"
#include "trace/track_label.h"
#include "trace/write.h"

namespace fathom::python {
namespace py = pybind11;
namespace {

using Opened = std::shared_ptr<OpenedTrace>;

// A column of a trace, which lives as long as anybody looks at it.
struct Column {
  Opened owner;
  const void* data;
  py::ssize_t size;
  py::ssize_t item_bytes;
  py::ssize_t stride;
  const char* format;  // as struct and NumPy call it
};

template <typename T>
Column column(const Opened& owner, const std::vector<T>& values, const char* format) {
  return {owner,     values.data(), static_cast<py::ssize_t>(values.size()),
          sizeof(T), sizeof(T),     format};
}

// A field of rows.
template <typename Row, typename T>
Column field(const Opened& owner, const std::vector<Row>& rows, T Row::*member,
             const char* format) {
  const void* const first = rows.empty() ? nullptr : &(rows.front().*member);
  return {owner, first, static_cast<py::ssize_t>(rows.size()), sizeof(T), sizeof(Row), format};
}

py::buffer_info buffer_of(const Column& column) {
  static const std::int64_t none = 0;
  void* const data = const_cast<void*>(column.data != nullptr ? column.data : &none);
  return {data, column.item_bytes, column.format, 1, {column.size}, {column.stride}, true};
}

// Numbers of nothing (no parent, no launch) are -1: UINT32_MAX, read with a sign.
py::dict span_columns(const Opened& opened) {
  const trace::Spans& spans = opened->trace.spans;
  py::dict all;
  all["name_id"] = column(opened, spans.name, "I");
  all["shape_id"] = column(opened, spans.shape, "I");
  all["kind"] = column(opened, spans.kind, "B");
  all["track"] = column(opened, spans.track, "I");
  all["start_ns"] = column(opened, spans.start_ns, "q");
  all["duration_ns"] = column(opened, spans.duration_ns, "q");
  all["correlation"] = column(opened, spans.correlation, "q");
  all["parent"] = column(opened, spans.parent, "i");
  return all;
}

py::dict instant_columns(const Opened& opened) {
  const auto& rows = opened->trace.instants;
  py::dict all;
  all["time_ns"] = field(opened, rows, &trace::Instant::time_ns, "q");
  all["name_id"] = field(opened, rows, &trace::Instant::name, "I");
  all["track"] = field(opened, rows, &trace::Instant::track, "I");
  return all;
}

py::dict memory_columns(const Opened& opened) {
  const auto& rows = opened->trace.memory;
  py::dict all;
  all["time_ns"] = field(opened, rows, &trace::MemoryEvent::time_ns, "q");
  all["bytes"] = field(opened, rows, &trace::MemoryEvent::bytes, "q");
  all["site_id"] = field(opened, rows, &trace::MemoryEvent::site, "I");
  all["device_index"] = field(opened, rows, &trace::MemoryEvent::device_index, "i");
  return all;
}

py::str text(std::string_view view) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(view.data(), static_cast<py::ssize_t>(view.size()), "replace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

py::object text_or_none(std::string_view view) {
  return view.empty() ? py::object(py::none()) : py::object(text(view));
}

py::list names(const Opened& opened) {
  const auto& pool = opened->trace.names;
  py::list all;
  for (trace::NameId id = 0; id < pool.size(); ++id) all.append(text(pool.view(id)));
  return all;
}

py::list counters(const Opened& opened) {
  py::list all;
  for (const trace::Counter& counter : opened->trace.counters) {
    all.append(py::make_tuple(text(opened->trace.names.view(counter.name)), counter.track,
                              column(opened, counter.time_ns, "q"),
                              column(opened, counter.value, "d")));
  }
  return all;
}

py::list tracks(const Opened& opened) {
  static constexpr const char* kKinds[] = {"thread", "gpu_stream", "async"};
  py::list all;
  for (const trace::Track& track : opened->trace.tracks) {
    all.append(py::make_tuple(text(trace::label_of(track)),
                              kKinds[static_cast<std::size_t>(track.kind)], track.pid, track.tid,
                              text_or_none(track.process_name), text_or_none(track.thread_name),
                              track.device, track.stream, track.first_span, track.span_count));
  }
  return all;
}

py::dict run_info(const Opened& opened) {
  const trace::RunInfo& run = opened->trace.run;
  py::dict all;
  all["format"] = text_or_none(run.format);
  all["command"] = text_or_none(run.command);
  all["title"] = text_or_none(run.title);
  all["base_time_ns"] = run.base_time_ns;
  all["rank"] = run.rank;
  all["world_size"] = run.world_size;
  all["dropped_spans"] = run.dropped_spans;
  all["begin_ns"] = run.begin_ns;
  all["end_ns"] = run.end_ns;
  all["exit_status"] = run.exit_status;
  all["signal"] = run.signal;
  return all;
}

py::list kind_names() {
  py::list all;
  for (const std::string_view name : trace::kSpanKindNames) all.append(text(name));
  return all;
}

py::list warnings(const Opened& opened) {
  py::list all;
  for (const trace::Warning& warning : opened->trace.warnings.all()) {
    all.append(text(trace::describe(warning)));
  }
  return all;
}

Opened read(std::optional<int> descriptor, const std::string& name) {
  const auto result = std::make_shared<Opened>();
  do_long_work([=] {
    *result = std::make_shared<OpenedTrace>(
        descriptor ? trace::read_trace(*descriptor, name) : trace::read_trace(name), name);
  });
  return *result;
}

// What one of the functions of said.h gives, as text.
template <typename Say>
py::str say(const Opened& opened, const Say& function) {
  const auto result = std::make_shared<std::string>();
  do_long_work([=] { *result = function(*opened); });
  return text(*result);
}

void write(const Opened& opened, const std::string& path) {
  do_long_work([=] { write_trace_to(*opened, path); });
}

}  // namespace

void add_trace(py::module_& module) {
  py::class_<Column>(module, "Column", py::buffer_protocol())
      .def_buffer([](const Column& column) { return buffer_of(column); })
      .def("__len__", [](const Column& column) { return column.size; });
  py::class_<OpenedTrace, Opened>(module, "Trace")
      .def("span_columns", span_columns)
      .def("instant_columns", instant_columns)
      .def("memory_columns", memory_columns)
      .def("names", names)
      .def("counters", counters)
      .def("tracks", tracks)
      .def("run", run_info)
      .def("warnings", warnings)
      .def("args",
           [](const Opened& opened, trace::SpanId span) {
             if (span >= opened->trace.spans.size()) throw py::index_error("no such span");
             return text(opened->trace.args(span));
           })
      .def("write", write)
      .def("report", [](const Opened& o) { return say(o, said_report); })
      .def("report_text",
           [](const Opened& o, std::size_t top) {
             return say(o, [top](const OpenedTrace& t) { return said_report_text(t, top); });
           })
      .def("hta",
           [](const Opened& o, bool all_steps, std::size_t top, bool as_text) {
             return say(o,
                        [=](const OpenedTrace& t) { return said_hta(t, all_steps, top, as_text); });
           })
      .def("flame",
           [](const Opened& o, const FlameChoice& choice) {
             return say(o, [=](const OpenedTrace& t) { return said_flame(t, choice); });
           })
      .def("timeline",
           [](const Opened& o, std::size_t top, bool as_text) {
             return say(o, [=](const OpenedTrace& t) { return said_timeline(t, top, as_text); });
           })
      .def("memory",
           [](const Opened& o, std::size_t top, bool as_text) {
             return say(o, [=](const OpenedTrace& t) { return said_memory(t, top, as_text); });
           })
      .def("suggest",
           [](const Opened& o, bool all, bool critical, std::size_t top, bool as_text,
              const std::string& compile_logs) {
             return say(o, [=](const OpenedTrace& t) {
               return said_suggestions(t, all, critical, top, as_text, compile_logs);
             });
           })
      .def("write_drawn",
           [](const Opened& opened, const std::string& path, double min_us, bool with_python) {
             do_long_work([=] { write_drawn(*opened, min_us, with_python, path); });
           })
      .def("drawn_page",
           [](const Opened& o, double min_us, bool with_python) {
             return say(o,
                        [=](const OpenedTrace& t) { return said_drawn(t, min_us, with_python); });
           })
      .def("session", [](const Opened& o) { return say(o, said_session); })
      .def("page", [](const Opened& o, const std::string& start) {
        return say(o, [=](const OpenedTrace& t) { return said_page(t, start); });
      });
  py::class_<FlameChoice>(module, "FlameChoice")
      .def(py::init([](const std::string& form, const std::string& weight, double min_duration_us,
                       std::size_t max_depth, bool group_small_kernels) {
        return FlameChoice{form, weight, min_duration_us, max_depth, group_small_kernels};
      }));
  module.def("read", read);
  module.def("kind_names", kind_names);
  module.def("hta", [](const std::vector<Opened>& ranks, bool all_steps, std::size_t top,
                       const std::string& form) {
    const auto result = std::make_shared<std::string>();
    do_long_work([=] { *result = said_hta_of(ranks, all_steps, top, form); });
    return text(*result);
  });
  module.def("compile_logs", [](const std::string& logs, std::size_t top, const std::string& form) {
    const auto result = std::make_shared<std::string>();
    do_long_work([=] { *result = said_compile(logs, top, form); });
    return text(*result);
  });
}

}  // namespace fathom::python
