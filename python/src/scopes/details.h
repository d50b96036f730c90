#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>

#include "fathom/profiler.h"

namespace fathom::python {

inline constexpr const char* kProfilerCapsule = "fathom.Profiler";

// A scope with attributes, on a GPU, or of another profiler than the global one.
struct Details {
  Profiler* profiler = nullptr;
  PyObject* owner = nullptr;  // of the profiler; null for the global one
  std::string name = {};
  ScopeOptions options = {};
  Scope scope = {};

  Details() = default;
  ~Details() { Py_XDECREF(owner); }
  Details(const Details&) = delete;
  Details& operator=(const Details&) = delete;
};

// From keyword arguments: device, backend and size, and whatever else becomes an attribute. False
// with an exception set.
bool set_option(ScopeOptions& options, PyObject* key, PyObject* value) noexcept;

}  // namespace fathom::python
