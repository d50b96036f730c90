#pragma once

#include <exception>

namespace fathom::python {

// What this library throws becomes fathom.Error, made by fathom/errors.py of where, what and what
// to do.
void raise_error(std::exception_ptr thrown);

}  // namespace fathom::python
