#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "scopes/fiber.h"
#include "scopes/names.h"

namespace fathom::python {

// fathom.scope, what profile() gives, and what profile_function() gives for plain functions.
bool add_scope_type(PyObject* module) noexcept;
bool add_function_type(PyObject* module) noexcept;

// profile(profiler, name, device, backend, attributes): a scope of any profiler, where `profiler`
// is a capsule of one.
PyObject* profile(PyObject* module, PyObject* const* arguments, Py_ssize_t count) noexcept;
PyObject* push(PyObject* module, PyObject* name) noexcept;
PyObject* pop(PyObject* module, PyObject* nothing) noexcept;

}  // namespace fathom::python
