// The type fathom.scope. Both of its methods are the scope itself: looked up on a scope,
// `__enter__` and `__exit__` give that scope, and called without arguments it begins, with the
// three of __exit__ it ends. Python makes an object per method otherwise, which costs more than
// measuring.
#include "scopes/scope.h"

#include <structmember.h>

#include <new>

#include "fathom/detail/lanes.h"
#include "scopes/details.h"

namespace fathom::python {
namespace {

enum class Stage : unsigned char {
  idle,
  unmeasured,  // the profiler was off when it began
  measured,
  ending,  // another thread has ended it, and its own has not noticed yet
};

// What a scope was doing when it was begun once more.
struct Outer;

struct ScopeObject {
  PyObject_HEAD vectorcallfunc call;
  Name* name;
  Lane* lane;
  Details* details;
  Outer* outer;
  Stage stage;
  detail::OpenScope open;
};

PyTypeObject* scope_type = nullptr;
constexpr std::size_t kKept = 64;
ScopeObject* kept[kKept];  // for the next ones; each still has its type
std::size_t kept_count = 0;

struct Outer {
  ScopeObject* scope;  // an object of its own, of the same name
  Outer* next;
};

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names);

ScopeObject* make(Name* name) noexcept {
  ScopeObject* self = nullptr;
  if (kept_count > 0) {
    self = kept[--kept_count];
    _Py_NewReference(reinterpret_cast<PyObject*>(self));
  } else {
    self = PyObject_New(ScopeObject, scope_type);
    if (self == nullptr) return nullptr;
    self->call = call;
  }
  self->name = name;
  self->details = nullptr;
  self->outer = nullptr;
  self->stage = Stage::idle;
  return self;
}

Stage begin_details(ScopeObject& self, Lane& lane) noexcept {
  Details& details = *self.details;
  details.scope = details.profiler->profile(details.name, details.options);
  self.lane = &lane;
  ++lane.open;
  return Stage::measured;
}

inline void begin(ScopeObject& self) noexcept {
  if (self.details == nullptr && detail::global_generation.load(std::memory_order_relaxed) == 0) {
    self.stage = Stage::unmeasured;
    return;
  }
  Lane* const lane = this_lane();
  if (lane == nullptr) [[unlikely]] {
    self.stage = Stage::unmeasured;
  } else if (self.details != nullptr) {
    self.stage = begin_details(self, *lane);
  } else if (detail::enter(self.open, self.name->site)) {
    self.lane = lane;
    ++lane->open;
    self.stage = Stage::measured;
  } else {
    self.stage = Stage::unmeasured;
  }
}

// A profiler's handle may end its scope on any thread.
void end_details(ScopeObject& self, bool failed) noexcept {
  if (failed) self.details->scope.fail();
  self.details->scope.end();
}

inline void end(ScopeObject& self, bool failed) noexcept {
  if (self.stage != Stage::measured) {
    if (self.stage == Stage::unmeasured) self.stage = Stage::idle;
    return;
  }
  const PyThreadState* const thread = PyThreadState_Get();
  Fiber* const fiber = this_fiber(thread);
  Lane& lane = *self.lane;
  if (self.details != nullptr) end_details(self, failed);
  if (fiber != lane.fiber) [[unlikely]] {
    const bool is_measured = self.details == nullptr;
    self.stage = is_measured ? Stage::ending : Stage::idle;
    end_elsewhere({&self.open, detail::scope_ticks(), failed, is_measured, &lane,
                   reinterpret_cast<PyObject*>(&self)});
    return;
  }
  self.stage = Stage::idle;
  if (self.details == nullptr) {
    if (failed) {
      detail::leave_failed(self.open);
    } else {
      detail::leave(self.open);
    }
  }
  close_on(lane);
  if (thread->context_ver != fiber->version) [[unlikely]]
    find_lane(*fiber, thread);
}

// Begun while it is open: the newer measurement has an object of its own.
PyObject* enter_again(ScopeObject& self) noexcept {
  auto* const outer = new (std::nothrow) Outer;
  ScopeObject* const inner = outer != nullptr ? make(self.name) : nullptr;
  if (inner == nullptr) {
    delete outer;
    return PyErr_NoMemory();
  }
  if (self.details != nullptr) {
    inner->details = new (std::nothrow) Details;
    if (inner->details != nullptr) {
      inner->details->profiler = self.details->profiler;
      Py_XINCREF(self.details->owner);
      inner->details->owner = self.details->owner;
      inner->details->name = self.details->name;
      inner->details->options = self.details->options;
    }
  }
  begin(*inner);
  *outer = {inner, self.outer};
  self.outer = outer;
  Py_INCREF(&self);
  return reinterpret_cast<PyObject*>(&self);
}

void leave_newest(ScopeObject& self, bool failed) noexcept {
  Outer* const newest = self.outer;
  if (newest == nullptr) return end(self, failed);
  self.outer = newest->next;
  end(*newest->scope, failed);
  Py_DECREF(newest->scope);
  delete newest;
}

inline PyObject* enter(ScopeObject& self) noexcept {
  if (self.stage != Stage::idle) [[unlikely]]
    return enter_again(self);
  begin(self);
  Py_INCREF(&self);
  return reinterpret_cast<PyObject*>(&self);
}

// A generator that is closed early has not failed.
bool is_failure(PyObject* type) {
  return type != Py_None && type != PyExc_GeneratorExit;
}

PyObject* wrong_arguments() {
  PyErr_SetString(
      PyExc_TypeError,
      "a scope is entered with no arguments and left with three; to profile a function: "
      "@fathom.profile_function");
  return nullptr;
}

PyObject* call(PyObject* object, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  auto& self = *reinterpret_cast<ScopeObject*>(object);
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (names != nullptr) return wrong_arguments();
  if (count == 0) return enter(self);
  if (count != 3) return wrong_arguments();
  leave_newest(self, is_failure(arguments[0]));
  Py_RETURN_NONE;
}

// fathom.scope(name, *, device="cpu", backend=None, size=None, **attributes)
PyObject* make_with_details(Name* name, PyObject* const* values, PyObject* names) noexcept {
  ScopeObject* const self = make(name);
  if (self == nullptr) return nullptr;
  self->details = new (std::nothrow) Details;
  if (self->details == nullptr) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  Details& details = *self->details;
  details.profiler = &profiler();
  details.name = name->text;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    if (set_option(details.options, PyTuple_GET_ITEM(names, i), values[i])) continue;
    Py_DECREF(self);
    return nullptr;
  }
  return reinterpret_cast<PyObject*>(self);
}

PyObject* make_scope(PyObject* /*type*/, PyObject* const* arguments, std::size_t flags,
                     PyObject* names) {
  if (PyVectorcall_NARGS(flags) != 1) {
    PyErr_SetString(PyExc_TypeError, "scope() takes one positional argument: its name");
    return nullptr;
  }
  Name* const name = name_of(arguments[0]);
  if (name == nullptr) return nullptr;
  if (names != nullptr) return make_with_details(name, arguments + 1, names);
  return reinterpret_cast<PyObject*>(make(name));
}

void dealloc(PyObject* object) {
  auto* const self = reinterpret_cast<ScopeObject*>(object);
  // Left open by a generator that nobody finishes, or begun by hand. Another thread's scope that is
  // ended here is kept until that thread has noticed.
  if (self->stage == Stage::measured || self->outer != nullptr) {
    Py_SET_REFCNT(object, 1);
    while (self->outer != nullptr) leave_newest(*self, false);
    end(*self, false);
    if (Py_REFCNT(object) > 1) {
      Py_SET_REFCNT(object, Py_REFCNT(object) - 1);
      return;
    }
    Py_SET_REFCNT(object, 0);
  }
  delete self->details;
  if (kept_count < kKept) {
    kept[kept_count++] = self;
    return;
  }
  PyTypeObject* const type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

PyObject* get_name(PyObject* object, void* /*unused*/) {
  const std::string& text = reinterpret_cast<ScopeObject*>(object)->name->text;
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

PyObject* repr(PyObject* object) {
  PyObject* const name = get_name(object, nullptr);
  if (name == nullptr) return nullptr;
  PyObject* const text = PyUnicode_FromFormat("fathom.scope(%R)", name);
  Py_DECREF(name);
  return text;
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ScopeObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef properties[] = {{"name", get_name, nullptr, "What it is called.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_repr, reinterpret_cast<void*>(repr)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {Py_tp_doc,
     const_cast<char*>(
         "scope(name, *, device='cpu', backend=None, size=None, **attributes)\n--\n\n"
         "Measures a `with` block under a name.\n\n"
         ">>> import fathom\n>>> with fathom.scope(\"load\"):\n...     data = list(range(10))\n\n"
         "Keyword arguments are remembered with it:\n\n"
         ">>> with fathom.scope(\"multiply\", size=1024, cached=True):\n...     pass\n")},
    {0, nullptr}};
PyType_Spec spec = {"fathom.scope", sizeof(ScopeObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
                    slots};

// What is found as __enter__ and __exit__ in the type.
struct VerbObject {
  PyObject_HEAD vectorcallfunc call;
  const char* name;
};

PyObject* bind(PyObject* verb, PyObject* scope, PyObject* /*type*/) {
  PyObject* const found = scope != nullptr ? scope : verb;
  Py_INCREF(found);
  return found;
}

// scope.__enter__(s), as contextlib.ExitStack asks for it.
PyObject* call_unbound(PyObject* /*verb*/, PyObject* const* arguments, std::size_t flags,
                       PyObject* names) {
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (count < 1 || Py_TYPE(arguments[0]) != scope_type) return wrong_arguments();
  return call(arguments[0], arguments + 1, static_cast<std::size_t>(count - 1), names);
}

PyMemberDef verb_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(VerbObject, call), READONLY, nullptr},
    {"__name__", T_STRING, offsetof(VerbObject, name), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot verb_slots[] = {{Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                            {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                            {Py_tp_members, verb_members},
                            {0, nullptr}};
PyType_Spec verb_spec = {"fathom._scopes.verb", sizeof(VerbObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                         verb_slots};

bool add_verb(PyTypeObject* verb_type, const char* name) {
  VerbObject* const verb = PyObject_New(VerbObject, verb_type);
  if (verb == nullptr) return false;
  verb->call = call_unbound;
  verb->name = name;
  const bool added =
      PyDict_SetItemString(scope_type->tp_dict, name, reinterpret_cast<PyObject*>(verb)) == 0;
  Py_DECREF(verb);
  return added;
}

}  // namespace

bool add_scope_type(PyObject* module) noexcept {
  auto* const verb_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&verb_spec));
  scope_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (verb_type == nullptr || scope_type == nullptr) return false;
  scope_type->tp_vectorcall = make_scope;
  if (!add_verb(verb_type, "__enter__") || !add_verb(verb_type, "__exit__")) return false;
  PyType_Modified(scope_type);
  return PyModule_AddObjectRef(module, "scope", reinterpret_cast<PyObject*>(scope_type)) == 0;
}

PyObject* profile(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count) noexcept {
  if (count != 5) {
    PyErr_SetString(PyExc_TypeError,
                    "profile() takes a profiler, name, device, backend, attributes");
    return nullptr;
  }
  Name* const name = name_of(arguments[1]);
  void* const measuring = PyCapsule_GetPointer(arguments[0], kProfilerCapsule);
  if (name == nullptr || measuring == nullptr) return nullptr;
  PyObject* const attributes = arguments[4];
  const bool is_plain = measuring == &profiler() && PyDict_GET_SIZE(attributes) == 0 &&
                        arguments[3] == Py_None &&
                        PyUnicode_CompareWithASCIIString(arguments[2], "cpu") == 0;
  ScopeObject* const self = make(name);
  if (self == nullptr || is_plain) return reinterpret_cast<PyObject*>(self);
  self->details = new (std::nothrow) Details;
  if (self->details == nullptr) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  Details& details = *self->details;
  details.profiler = static_cast<Profiler*>(measuring);
  Py_INCREF(arguments[0]);
  details.owner = arguments[0];
  details.name = name->text;
  static PyObject* const device = PyUnicode_InternFromString("device");
  static PyObject* const backend = PyUnicode_InternFromString("backend");
  bool good = set_option(details.options, device, arguments[2]) &&
              set_option(details.options, backend, arguments[3]);
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; good && PyDict_Next(attributes, &at, &key, &value);) {
    good = set_option(details.options, key, value);
  }
  if (good) return reinterpret_cast<PyObject*>(self);
  Py_DECREF(self);
  return nullptr;
}

PyObject* push(PyObject* /*module*/, PyObject* text) noexcept {
  Name* const name = name_of(text);
  if (name == nullptr) return nullptr;
  Lane* const lane = this_lane();
  if (lane == nullptr) return PyErr_NoMemory();
  try {
    PushStack::Pushed& place = lane->pushed.push();
    ++lane->open;
    place.is_measured = detail::global_generation.load(std::memory_order_relaxed) != 0 &&
                        detail::enter(place.open, name->site);
  } catch (...) {
    return PyErr_NoMemory();
  }
  Py_RETURN_NONE;
}

PyObject* pop(PyObject* /*module*/, PyObject* /*nothing*/) noexcept {
  Lane* const lane = this_lane();
  if (lane == nullptr || lane->pushed.empty()) Py_RETURN_NONE;
  PushStack::Pushed& place = lane->pushed.pop();
  if (place.is_measured) detail::leave(place.open);
  close_on(*lane);
  Py_RETURN_NONE;
}

}  // namespace fathom::python
