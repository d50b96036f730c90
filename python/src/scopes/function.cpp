// A plain function that is profiled each time it is called. Generators and coroutines are wrapped
// in Python (fathom/decorators.py), because they end later than their call does.
#include "scopes/scope.h"

#include <structmember.h>

#include "fathom/detail/lanes.h"

namespace fathom::python {
namespace {

struct FunctionObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* function;
  Name* name;
  PyObject* dict;
  PyObject* weak_references;
};

PyObject* call(PyObject* object, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  auto& self = *reinterpret_cast<FunctionObject*>(object);
  Lane* lane = nullptr;
  detail::OpenScope open;
  if (detail::global_generation.load(std::memory_order_relaxed) == 0 ||
      (lane = this_lane()) == nullptr || !detail::enter(open, self.name->site)) {
    return PyObject_Vectorcall(self.function, arguments, flags, names);
  }
  ++lane->open;
  PyObject* const result = PyObject_Vectorcall(self.function, arguments, flags, names);
  if (result == nullptr) [[unlikely]] {
    detail::leave_failed(open);
  } else {
    detail::leave(open);
  }
  close_on(*lane);
  return result;
}

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  PyObject *function = nullptr, *text = nullptr;
  static const char* names[] = {"function", "name", nullptr};
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "OO:ProfiledFunction",
                                  const_cast<char**>(names), &function, &text) == 0) {
    return nullptr;
  }
  if (PyCallable_Check(function) == 0) {
    PyErr_Format(PyExc_TypeError, "profile_function: %.100s cannot be called",
                 Py_TYPE(function)->tp_name);
    return nullptr;
  }
  Name* const name = name_of(text);
  if (name == nullptr) return nullptr;
  auto* const self = reinterpret_cast<FunctionObject*>(type->tp_alloc(type, 0));
  if (self == nullptr) return nullptr;
  self->call = call;
  Py_INCREF(function);
  self->function = function;
  self->name = name;
  return reinterpret_cast<PyObject*>(self);
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  auto& self = *reinterpret_cast<FunctionObject*>(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self.function);
  Py_VISIT(self.dict);
  return 0;
}

int clear(PyObject* object) {
  auto& self = *reinterpret_cast<FunctionObject*>(object);
  Py_CLEAR(self.function);
  Py_CLEAR(self.dict);
  return 0;
}

void dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  if (reinterpret_cast<FunctionObject*>(object)->weak_references != nullptr) {
    PyObject_ClearWeakRefs(object);
  }
  clear(object);
  PyTypeObject* const type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

// As functions do, so that methods are methods.
PyObject* bind(PyObject* object, PyObject* instance, PyObject* /*type*/) {
  if (instance != nullptr && instance != Py_None) return PyMethod_New(object, instance);
  Py_INCREF(object);
  return object;
}

PyObject* repr(PyObject* object) {
  return PyUnicode_FromFormat("<profiled %R>", reinterpret_cast<FunctionObject*>(object)->function);
}

// Functions are pickled by name, for processes that are started to run them.
PyObject* reduce(PyObject* object, PyObject* /*nothing*/) {
  return PyObject_GetAttrString(reinterpret_cast<FunctionObject*>(object)->function,
                                "__qualname__");
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_members, members},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, properties},
                       {0, nullptr}};
PyType_Spec spec = {"fathom.ProfiledFunction", sizeof(FunctionObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_METHOD_DESCRIPTOR,
                    slots};

}  // namespace

bool add_function_type(PyObject* module) noexcept {
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr) return false;
  const bool added = PyModule_AddObjectRef(module, "ProfiledFunction", type) == 0;
  Py_DECREF(type);
  return added;
}

}  // namespace fathom::python
