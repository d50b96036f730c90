#include "scopes/details.h"

#include <optional>
#include <utility>

#include "scopes/names.h"

namespace fathom::python {
namespace {

std::optional<AttributeValue> whole_number(PyObject* value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow == 0) return AttributeValue(std::int64_t{number});
  if (overflow > 0) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred() == nullptr) return AttributeValue(std::uint64_t{large});
    PyErr_Clear();
  }
  return std::nullopt;
}

std::optional<AttributeValue> text(PyObject* value) {
  PyObject* const as_text = PyObject_Str(value);
  std::string out;
  const bool is_text = as_text != nullptr && text_of(as_text, out);
  Py_XDECREF(as_text);
  if (!is_text) return std::nullopt;
  return AttributeValue(std::move(out));
}

// Numbers of NumPy and the like are numbers; what is none is kept as text.
std::optional<AttributeValue> value_of(PyObject* value) {
  if (PyBool_Check(value)) return AttributeValue(value == Py_True);
  if (PyFloat_Check(value)) return AttributeValue(PyFloat_AS_DOUBLE(value));
  if (PyUnicode_Check(value)) return text(value);
  if (PyIndex_Check(value)) {
    if (PyObject* const number = PyNumber_Index(value)) {
      const auto whole = whole_number(number);
      Py_DECREF(number);
      if (whole) return whole;
    }
    PyErr_Clear();
  }
  return text(value);
}

bool set_text(std::string& to, PyObject* value, const char* what) {
  if (value == Py_None) return true;
  if (PyUnicode_Check(value)) return text_of(value, to);
  PyErr_Format(PyExc_TypeError, "%s must be a str, not %.100s", what, Py_TYPE(value)->tp_name);
  return false;
}

}  // namespace

bool set_option(ScopeOptions& options, PyObject* key, PyObject* value) noexcept {
  try {
    std::string name;
    if (!text_of(key, name)) return false;
    if (name == "device") return set_text(options.device, value, "device");
    if (name == "backend") return set_text(options.backend, value, "backend");
    if (value == Py_None) return true;
    auto attribute = value_of(value);
    if (!attribute) return false;
    if (const auto* const size = std::get_if<std::int64_t>(&*attribute);
        name == "size" && size != nullptr && *size >= 0) {
      options.size = static_cast<std::uint64_t>(*size);
      return true;
    }
    Attribute made(std::move(name), false);
    made.value = std::move(*attribute);
    options.attributes.push_back(std::move(made));
    return true;
  } catch (...) {
    PyErr_NoMemory();
    return false;
  }
}

}  // namespace fathom::python
