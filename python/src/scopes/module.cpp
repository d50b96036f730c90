// The module fathom._scopes: what runs inside other people's loops, in plain C API.
#include "scopes/scope.h"

namespace fathom::python {
namespace {

PyMethodDef methods[] = {
    {"profile", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(profile)), METH_FASTCALL,
     "profile(profiler, name, device, backend, attributes)\n--\n\nA scope of any profiler."},
    {"push", push, METH_O,
     "push(name)\n--\n\nBegins a scope that the matching pop() ends.\n\n"
     ">>> import fathom\n>>> fathom.push(\"epoch\")\n>>> fathom.pop()\n"},
    {"pop", pop, METH_NOARGS,
     "pop()\n--\n\nEnds the scope of the last push() of this thread or task that is open; "
     "without one it does nothing."},
    {nullptr, nullptr, 0, nullptr}};

int fill(PyObject* module) {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError,
                    "fathom: works in the main interpreter only, not in a sub-interpreter");
    return -1;
  }
  static bool is_filled = false;
  if (is_filled) {
    PyErr_SetString(PyExc_ImportError, "fathom._scopes: is loaded already");
    return -1;
  }
  is_filled = true;
  watch_forks();
  if (!add_scope_type(module) || !add_function_type(module)) return -1;
  return PyModule_AddStringConstant(module, "version", FATHOM_VERSION);
}

PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(fill)}, {0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "fathom._scopes",
                          "Scopes at the speed of C.",
                          0,
                          methods,
                          slots,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace fathom::python

PyMODINIT_FUNC PyInit__scopes() {
  return PyModuleDef_Init(&fathom::python::definition);
}
