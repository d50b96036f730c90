#include "analyze/efficiency/op_work.h"

#include <algorithm>

#include "analyze/efficiency/op_formulas.h"

namespace fathom::analyze {
namespace op_formulas {
namespace {

constexpr OpRule kRules[] = {
    {"mm", product},
    {"bmm", product},
    {"matmul", product},
    {"_int_mm", product},
    {"_scaled_mm", product},
    {"addmm", product, 1},
    {"baddbmm", product, 1},
    {"_addmm_activation", product, 1},
    {"linear", linear},
    {"mv", product_with_vector},
    {"dot", product_with_vector},
    {"addmv", product_with_vector, 1},
    {"convolution", convolution, 0, 3},
    {"_convolution", convolution, 0, 3},
    {"cudnn_convolution", library_convolution, 0, 2},
    {"miopen_convolution", library_convolution, 0, 3},
    {"convolution_backward", convolution_backward},
    {"_flash_attention_forward", flash_forward, 0, 1},
    {"_flash_attention_backward", flash_backward, 1, 1},
    {"_scaled_dot_product_flash_attention", flash_forward, 0, 2},
    {"_scaled_dot_product_flash_attention_backward", flash_backward, 1, 2},
    {"_efficient_attention_forward", efficient_forward},
    {"_scaled_dot_product_efficient_attention", efficient_attention},
    {"_scaled_dot_product_cudnn_attention", efficient_attention},
    {"_softmax", unary},
    {"_log_softmax", unary},
    {"_softmax_backward_data", unary_backward},
    {"_log_softmax_backward_data", unary_backward},
    {"native_layer_norm", unary},
    {"native_group_norm", unary},
    {"native_batch_norm", unary},
    {"cudnn_batch_norm", unary},
    {"miopen_batch_norm", unary},
    {"_fused_rms_norm", unary},
    {"native_layer_norm_backward", unary_backward},
    {"native_group_norm_backward", unary_backward},
    {"native_batch_norm_backward", unary_backward},
    {"cudnn_batch_norm_backward", unary_backward},
    {"miopen_batch_norm_backward", unary_backward},
    {"neg", unary},
    {"abs", unary},
    {"exp", unary},
    {"exp2", unary},
    {"log", unary},
    {"log2", unary},
    {"sqrt", unary},
    {"rsqrt", unary},
    {"sin", unary},
    {"cos", unary},
    {"erf", unary},
    {"tanh", unary},
    {"sigmoid", unary},
    {"silu", unary},
    {"gelu", unary},
    {"relu", unary},
    {"leaky_relu", unary},
    {"hardtanh", unary},
    {"threshold", unary},
    {"clamp", unary},
    {"clamp_min", unary},
    {"clamp_max", unary},
    {"reciprocal", unary},
    {"nan_to_num", unary},
    {"pow", binary},
    {"add", binary},
    {"sub", binary},
    {"rsub", binary},
    {"mul", binary},
    {"div", binary},
    {"maximum", binary},
    {"minimum", binary},
    {"bitwise_and", binary},
    {"bitwise_or", binary},
    {"addcmul", binary},
    {"addcdiv", binary},
    {"lerp", binary},
    {"where", binary},
    {"masked_fill", binary},
    {"threshold_backward", binary},
    {"gelu_backward", binary},
    {"silu_backward", binary},
    {"tanh_backward", binary},
    {"sigmoid_backward", binary},
    {"eq", comparison},
    {"ne", comparison},
    {"lt", comparison},
    {"le", comparison},
    {"gt", comparison},
    {"ge", comparison},
    {"logical_and", comparison},
    {"logical_or", comparison},
    {"logical_not", comparison},
    {"isnan", comparison},
    {"copy", copy},
    {"fill", fill},
    {"zero", fill},
    {"sum", reduction},
    {"mean", reduction},
    {"amax", reduction},
    {"amin", reduction},
    {"max", reduction},
    {"min", reduction},
    {"prod", reduction},
    {"any", reduction},
    {"all", reduction},
    {"var", reduction},
    {"std", reduction},
    {"norm", reduction},
    {"linalg_vector_norm", reduction},
    {"argmax", reduction},
    {"argmin", reduction},
    {"embedding", rows_of_table, 0, 1},
    {"index_select", rows_of_table, 0, 2},
};

const OpRule* rule_of(std::string_view op) {
  constexpr std::string_view kLibrary = "aten::";
  if (!op.starts_with(kLibrary)) return nullptr;
  op.remove_prefix(kLibrary.size());
  if (op.ends_with('_')) op.remove_suffix(1);
  const auto* rule = std::ranges::find(kRules, op, &OpRule::op);
  return rule == std::end(kRules) ? nullptr : rule;
}

}  // namespace
}  // namespace op_formulas

bool has_known_work(std::string_view op) {
  return op_formulas::rule_of(op) != nullptr;
}

std::optional<OpWork> op_work(std::string_view op, std::span<const OpInput> inputs) {
  const op_formulas::OpRule* rule = op_formulas::rule_of(op);
  if (rule == nullptr || inputs.empty()) return {};
  const bool is_possible = std::ranges::all_of(inputs, [](const OpInput& input) {
    return std::ranges::all_of(input.dims, [](std::int64_t dim) { return dim >= 0; });
  });
  return is_possible ? rule->work(inputs, *rule) : std::nullopt;
}

}  // namespace fathom::analyze
