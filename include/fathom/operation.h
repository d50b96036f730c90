#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fathom/export.h"

// What the runtime library can compute, and on what.
namespace fathom {

// What can be computed, and what its size counts.
enum class Operation : std::uint8_t {
  xor_words,     // words of 32 bits
  matmul,        // edge of a square; of others, the cube root of rows x inner x columns
  add,           // elements, here and below
  multiply,      //
  relu,          //
  saxpy,         //
  reduce,        //
  graph_search,  // edges
};
inline constexpr std::size_t kOperations = 8;

FATHOM_API std::string_view name_of(Operation operation);  // "xor", "matmul", …
FATHOM_API std::optional<Operation> operation_named(std::string_view name);

// What a device can do, roughly. It is where predictions begin, until something was measured.
struct DeviceModel {
  std::string name = {};            // "cpu", "opencl:0"
  std::string description = {};     // by which it is known again; empty: not known
  bool shares_host_memory = false;  // no transfers
  double launch_ns = 0;             // until work begins
  double link_latency_ns = 0;       // of each transfer
  double link_bytes_per_second = 1e10;
  double flops_per_second = 1e10;
  double memory_bytes_per_second = 1e10;           // of its own memory
  std::optional<std::uint64_t> memory_bytes = {};  // all of it
};

// A JSON array of models, for devices that are simulated: docs/acting.md has the form. Throws
// std::runtime_error with one line where the file is not that.
FATHOM_API std::vector<DeviceModel> read_device_models(const std::string& path);

// c = a · b for `batch` pairs of matrices, all row-major and dense: a is rows x inner, b is inner x
// columns. Strides count elements from one matrix to the next of the batch; 0: directly after it.
struct MatmulShape {
  std::size_t rows = 0;
  std::size_t inner = 0;
  std::size_t columns = 0;
  std::size_t batch = 1;
  std::size_t stride_a = 0;
  std::size_t stride_b = 0;
  std::size_t stride_c = 0;
};

}  // namespace fathom
