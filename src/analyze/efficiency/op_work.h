#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "analyze/efficiency/op_args.h"

namespace fathom::analyze {

// What an operation has to do at least, from the shapes and types of its inputs:
//
//   operation                                      FLOP              bytes
//   product [M,K]·[K,N], B of them                 2BMNK             each operand once
//   convolution, weight [Co,Ci/g,k…]               2·out·Ci/g·k…     input, weight, output
//     backward                                     once per gradient that is asked for
//   attention, S queries, T keys, H and Hk heads   4BHSTd            q, out, k, v once
//     causal: half the FLOP; backward: 2.5 times the FLOP, twice the bytes
//   softmax, normalization, unary                  5 per element     read and written once
//     backward of these                            5 per element     two read, one written
//   binary, cast                                   1 per element     operands as stored, and output
//   reduction                                      1 per element     read once
//   embedding, row selection                       0                 rows read and written
//
// b is as many bytes as an element has; what is broadcast counts as stored.
struct OpWork {
  double flop = 0;
  double bytes = 0;
  bool is_matrix = false;  // a product, convolution or attention: what tensor cores are for
  int element_bytes = 0;   // of the operands of a product
  bool is_float = false;   // they are floats
};

// Of an operation of PyTorch ("aten::mm"). Nothing where its work does not follow from its inputs,
// or they were not recorded.
std::optional<OpWork> op_work(std::string_view op, std::span<const OpInput> inputs);

// Whether op_work could say anything of such an operation.
bool has_known_work(std::string_view op);

}  // namespace fathom::analyze
