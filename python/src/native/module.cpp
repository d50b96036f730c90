// The module fathom._native: the profiler's figures, traces and what is said of them. It returns
// plain data; the classes that people see are in Python.
#include <pybind11/pybind11.h>

#include "native/long_work.h"
#include "native/parts.h"

PYBIND11_MODULE(_native, module) {
  using namespace fathom::python;
  module.doc() = "Figures, traces and analyses as plain data.";
  add_errors(module);
  add_profiler(module);
  add_memory(module);
  add_trace(module);
  add_comparison(module);
  finish_long_work_at_exit();
}
