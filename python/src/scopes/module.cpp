// The module fathom._scopes: what runs inside other people's loops, in plain C API.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace {

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "fathom._scopes",
                          "Scopes at the speed of C.",
                          -1,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__scopes() {
  PyObject* const module = PyModule_Create(&definition);
  if (module == nullptr) return nullptr;
  if (PyModule_AddStringConstant(module, "version", FATHOM_VERSION) < 0) {
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
