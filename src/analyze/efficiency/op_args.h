#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::analyze {

// An input of an operation of PyTorch, as its profiler records it (`record_shapes=True`).
struct OpInput {
  std::vector<std::int64_t> dims;  // of a tensor; empty for scalars and lists
  int bytes = 0;                   // of an element; 0 where the type is not known
  bool is_float = false;
  std::string concrete;  // the value of a scalar or list of them, as written: "True", "[1, 1]"

  bool is_tensor() const { return !dims.empty() && bytes > 0; }
  double elements() const;
};

// `Input Dims`, `Input type` and `Concrete Inputs` of an operation's arguments (JSON object text);
// empty where they were not recorded.
std::vector<OpInput> op_inputs(std::string_view args);

// "[2, 2]" → 2, 2; empty where it is anything else.
std::vector<std::int64_t> numbers_in(std::string_view list);

// Of a type as PyTorch writes it ("c10::BFloat16", "float", "Float"); 0 where it is not known.
int bytes_of_type(std::string_view type);

}  // namespace fathom::analyze
