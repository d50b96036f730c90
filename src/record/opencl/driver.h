#pragma once

#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

namespace fathom::record::opencl {

// What the layer stands on: the loader's entry points, or those of the next layer. Written once,
// before the program can make a call.
extern cl_icd_dispatch driver;

// Puts ours in place of the entry, where the loader has one.
template <typename Function>
void replace(Function& entry, Function ours) {
  if (entry != nullptr) entry = ours;
}

// Asks one of the clGet…Info functions for a value of fixed size.
template <typename Function, typename Object, typename What, typename Value>
cl_int ask(Function function, Object object, What what, Value& value) {
  constexpr std::size_t kSize = sizeof(Value);  // NOLINT(bugprone-sizeof-expression): handles too
  return function(object, static_cast<cl_uint>(what), kSize, &value, nullptr);
}

}  // namespace fathom::record::opencl
