#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <string>

#include "fathom/detail/fixed_scope.h"

namespace fathom::python {

// An operation's name: what FATHOM_SCOPE has per place in the source, once per text.
struct Name {
  detail::Site site;
  std::string text;
};

struct NameSlot {
  PyObject* object = nullptr;  // owned, so that no other str gets its address
  Name* name = nullptr;
};
inline constexpr std::size_t kNameSlots = 1024;
extern NameSlot name_slots[kNameSlots];

// Null, with an exception set, where `object` is no str.
Name* find_name(PyObject* object) noexcept;
// Its text in UTF-8, whatever is in it.
bool text_of(PyObject* object, std::string& text) noexcept;

inline NameSlot& slot_of(PyObject* object) {
  return name_slots[(reinterpret_cast<std::uintptr_t>(object) >> 4) % kNameSlots];
}

// A literal is the same object each time.
inline Name* name_of(PyObject* object) noexcept {
  const NameSlot& slot = slot_of(object);
  if (slot.object == object) [[likely]]
    return slot.name;
  return find_name(object);
}

}  // namespace fathom::python
