#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "explain/analysis.h"
#include "trace/trace.h"

// What the commands say of a trace, in their JSON or as they print it. Nothing of Python in here.
namespace fathom::python {

struct OpenedTrace {
  OpenedTrace(trace::Trace read, std::string name)
      : trace(std::move(read)), analysis(trace, std::move(name)) {}
  trace::Trace trace;
  explain::Analysis analysis;
};

struct FlameChoice {
  std::string form;    // "json", "text", "folded", "speedscope" or "page"
  std::string weight;  // "cpu", "gpu" or "count"
  double min_duration_us = 10;
  std::size_t max_depth = 0;
  bool group_small_kernels = false;
};

std::string said_report(const OpenedTrace& opened);
std::string said_report_text(const OpenedTrace& opened, std::size_t top);
std::string said_hta(const OpenedTrace& opened, bool all_steps, std::size_t top, bool as_text);
// Of the ranks of a job; "json", "text" or "page".
std::string said_hta_of(const std::vector<std::shared_ptr<OpenedTrace>>& ranks, bool all_steps,
                        std::size_t top, const std::string& form);
std::string said_flame(const OpenedTrace& opened, const FlameChoice& choice);
std::string said_timeline(const OpenedTrace& opened, std::size_t top, bool as_text);
std::string said_memory(const OpenedTrace& opened, std::size_t top, bool as_text);
// `compile_logs` is a file or folder of torch.compile's logs, or empty.
std::string said_suggestions(const OpenedTrace& opened, bool all, bool critical, std::size_t top,
                             bool as_text, const std::string& compile_logs);
// Of torch.compile's logs, a file or folder: "json", "text" or "page".
std::string said_compile(const std::string& logs, std::size_t top, const std::string& form);
std::string said_session(const OpenedTrace& opened);
std::string said_page(const OpenedTrace& opened, const std::string& start);  // "" or a tab's name
// With only the spans of at least so long, and Python's functions or not: the page, or Chrome JSON.
std::string said_drawn(const OpenedTrace& opened, double min_duration_us, bool with_python);
void write_drawn(const OpenedTrace& opened, double min_duration_us, bool with_python,
                 const std::string& path);
void write_trace_to(const OpenedTrace& opened, const std::string& path);

}  // namespace fathom::python
