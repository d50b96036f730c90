#include "native/errors.h"

#include <pybind11/pybind11.h>

#include <stdexcept>
#include <string>

#include "base/error.h"
#include "native/parts.h"

namespace fathom::python {
namespace py = pybind11;
namespace {

void raise(const std::string& where, const std::string& what, const std::string& hint) {
  const py::object error =
      py::module_::import("fathom.errors").attr("make_error")(where, what, hint);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

}  // namespace

void raise_error(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const base::Error& error) {
    raise(error.where(), error.problem(), error.hint());
  } catch (const py::builtin_exception&) {
    throw;
  } catch (const py::error_already_set&) {
    throw;
  } catch (const std::invalid_argument&) {
    throw;
  } catch (const std::runtime_error& error) {  // of libraries with their own base::Error
    raise("", error.what(), "");
  }
}

void add_errors(py::module_& /*module*/) {
  py::register_local_exception_translator(raise_error);
}

}  // namespace fathom::python
