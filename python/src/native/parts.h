#pragma once

namespace pybind11 {
class module_;
}

// What the module fathom._native is made of, one file each.
namespace fathom::python {

void add_errors(pybind11::module_& module);  // first
void add_profiler(pybind11::module_& module);
void add_memory(pybind11::module_& module);
void add_trace(pybind11::module_& module);
void add_comparison(pybind11::module_& module);

}  // namespace fathom::python
