#include "scopes/names.h"

#include <deque>
#include <string_view>
#include <unordered_map>

namespace fathom::python {

NameSlot name_slots[kNameSlots];

namespace {

// As many as the profiler keeps apart at full speed. A program that makes up names without end gets
// no more memory for them; from then on they share one.
constexpr std::size_t kMostNames = 65'000;
constexpr const char* kOthers = "(other operations)";

struct Names {
  std::deque<Name> all;
  std::unordered_map<std::string_view, Name*> by_text;

  Name* find(std::string&& text) {
    if (const auto known = by_text.find(text); known != by_text.end()) return known->second;
    if (all.size() >= kMostNames && text != kOthers) return find(kOthers);
    Name& name = all.emplace_back();
    name.text = std::move(text);
    name.site.name = name.text.c_str();
    by_text.emplace(name.text, &name);
    return &name;
  }
};

Names& names() {
  static Names& every = *new Names;
  return every;
}

}  // namespace

bool text_of(PyObject* object, std::string& text) noexcept {
  try {
    Py_ssize_t size = 0;
    if (const char* const utf8 = PyUnicode_AsUTF8AndSize(object, &size)) {
      text.assign(utf8, static_cast<std::size_t>(size));
      return true;
    }
    PyErr_Clear();  // half of a surrogate pair, as file names may have
    PyObject* const bytes = PyUnicode_AsEncodedString(object, "utf-8", "backslashreplace");
    if (bytes == nullptr) return false;
    text.assign(PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes)));
    Py_DECREF(bytes);
    return true;
  } catch (...) {
    PyErr_NoMemory();
    return false;
  }
}

Name* find_name(PyObject* object) noexcept {
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "the name of a scope must be a str, not %.100s",
                 Py_TYPE(object)->tp_name);
    return nullptr;
  }
  std::string text;
  if (!text_of(object, text)) return nullptr;
  try {
    Name* const name = names().find(std::move(text));
    if (!PyUnicode_CheckExact(object)) return name;  // whose text may change with its class
    NameSlot& slot = slot_of(object);
    PyObject* const before = slot.object;
    Py_INCREF(object);
    slot = {object, name};
    Py_XDECREF(before);
    return name;
  } catch (...) {
    PyErr_NoMemory();
    return nullptr;
  }
}

}  // namespace fathom::python
