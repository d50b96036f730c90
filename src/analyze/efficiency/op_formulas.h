#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "analyze/efficiency/op_work.h"

// What kinds of operations have to do at least; op_work.h has the formulas in words.
namespace fathom::analyze::op_formulas {

using Inputs = std::span<const OpInput>;

// How an operation's work follows from its inputs, and which of them matter.
struct OpRule {
  std::string_view op;  // without "aten::", and without the "_" of those that work in place
  std::optional<OpWork> (*work)(Inputs inputs, const OpRule& rule);
  std::size_t first = 0;   // the operand that it begins with
  std::size_t second = 1;  // of convolutions: where padding, stride and dilation are
};

std::optional<OpWork> product(Inputs inputs, const OpRule& rule);
std::optional<OpWork> linear(Inputs inputs, const OpRule& rule);
std::optional<OpWork> product_with_vector(Inputs inputs, const OpRule& rule);
std::optional<OpWork> convolution(Inputs inputs, const OpRule& rule);
std::optional<OpWork> library_convolution(Inputs inputs, const OpRule& rule);
std::optional<OpWork> convolution_backward(Inputs inputs, const OpRule& rule);
std::optional<OpWork> flash_forward(Inputs inputs, const OpRule& rule);
std::optional<OpWork> flash_backward(Inputs inputs, const OpRule& rule);
std::optional<OpWork> efficient_forward(Inputs inputs, const OpRule& rule);
std::optional<OpWork> efficient_attention(Inputs inputs, const OpRule& rule);
std::optional<OpWork> unary(Inputs inputs, const OpRule& rule);
std::optional<OpWork> unary_backward(Inputs inputs, const OpRule& rule);
std::optional<OpWork> binary(Inputs inputs, const OpRule& rule);
std::optional<OpWork> comparison(Inputs inputs, const OpRule& rule);
std::optional<OpWork> copy(Inputs inputs, const OpRule& rule);
std::optional<OpWork> fill(Inputs inputs, const OpRule& rule);
std::optional<OpWork> reduction(Inputs inputs, const OpRule& rule);
std::optional<OpWork> rows_of_table(Inputs inputs, const OpRule& rule);

}  // namespace fathom::analyze::op_formulas
