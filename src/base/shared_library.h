#pragma once

#include <dlfcn.h>

#include <span>

namespace fathom::base {

// Opens the first library of some names that there is: one that the program has loaded by itself
// before any other, and where there is none of these, `otherwise`. Null where nothing can be
// opened.
inline void* open_library(std::span<const char* const> names, const char* otherwise) {
  for (const char* const name : names) {
    if (void* const loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return loaded;
  }
  for (const char* const name : names) {
    if (void* const found = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
  }
  return dlopen(otherwise, RTLD_NOW | RTLD_LOCAL);
}

// Whether the library has a function of this name, which is then `function`.
template <typename Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace fathom::base
