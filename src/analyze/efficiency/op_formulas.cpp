#include "analyze/efficiency/op_formulas.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace fathom::analyze::op_formulas {
namespace {

const OpInput* tensor(Inputs inputs, std::size_t at) {
  return at < inputs.size() && inputs[at].is_tensor() ? &inputs[at] : nullptr;
}

double bytes_of(const OpInput& input) {
  return input.elements() * input.bytes;
}

OpWork matrix_work(double flop, double bytes, const OpInput& operand) {
  return {flop, bytes, true, operand.bytes, operand.is_float};
}

}  // namespace

// [B…,M,K]·[B…,K,N]; the batches of either may be missing.
std::optional<OpWork> product(Inputs inputs, const OpRule& rule) {
  const OpInput* a = tensor(inputs, rule.first);
  const OpInput* b = tensor(inputs, rule.first + 1);
  if (a == nullptr || b == nullptr || a->dims.size() < 2 || b->dims.size() < 2) return {};
  const auto k = static_cast<double>(a->dims.back());
  if (k <= 0 || a->dims.back() != b->dims[b->dims.size() - 2]) return {};
  const auto m = static_cast<double>(a->dims[a->dims.size() - 2]);
  const auto n = static_cast<double>(b->dims.back());
  if (m <= 0 || n <= 0) return {};
  const double batches = std::max(a->elements() / (m * k), b->elements() / (k * n));
  // Products of 8-bit floats are mostly written in 16 bits.
  const int written = a->bytes == 1 ? 2 : a->bytes;
  return matrix_work(2 * batches * m * n * k,
                     bytes_of(*a) + bytes_of(*b) + batches * m * n * written, *a);
}

// [M,K]·[K], and [K]·[K].
std::optional<OpWork> product_with_vector(Inputs inputs, const OpRule& rule) {
  const OpInput* a = tensor(inputs, rule.first);
  const OpInput* b = tensor(inputs, rule.first + 1);
  if (a == nullptr || b == nullptr || b->dims.size() != 1) return {};
  const double written = b->dims[0] > 0 ? a->elements() / static_cast<double>(b->dims[0]) : 0;
  return matrix_work(2 * a->elements(), bytes_of(*a) + bytes_of(*b) + written * a->bytes, *a);
}

// [B…,K] and a weight [N,K].
std::optional<OpWork> linear(Inputs inputs, const OpRule&) {
  const OpInput* a = tensor(inputs, 0);
  const OpInput* weight = tensor(inputs, 1);
  if (a == nullptr || weight == nullptr || weight->dims.size() != 2) return {};
  const auto k = static_cast<double>(a->dims.back());
  if (k <= 0 || a->dims.back() != weight->dims[1]) return {};
  const double written = a->elements() / k * static_cast<double>(weight->dims[0]);
  return matrix_work(2 * written * k, bytes_of(*a) + bytes_of(*weight) + written * a->bytes, *a);
}

namespace {

double product_of(std::span<const std::int64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 1.0, [](double all, std::int64_t one) {
    return all * static_cast<double>(one);
  });
}

// `order` says at which inputs, from `second` on, padding, stride and dilation are.
std::optional<OpWork> convolution_forward(Inputs inputs, const OpRule& rule,
                                          std::array<std::size_t, 3> order) {
  const OpInput* input = tensor(inputs, 0);
  const OpInput* weight = tensor(inputs, 1);
  if (input == nullptr || weight == nullptr || inputs.size() < rule.second + 3) return {};
  const std::size_t spatial = input->dims.size() - 2;
  if (input->dims.size() < 3 || weight->dims.size() != input->dims.size()) return {};
  std::array<std::vector<std::int64_t>, 3> options;
  for (std::size_t i = 0; i < options.size(); ++i) {
    options[i] = numbers_in(inputs[rule.second + order[i]].concrete);
    if (options[i].size() == 1) options[i].resize(spatial, options[i][0]);
    if (options[i].size() != spatial) return {};
  }
  const auto& [padding, stride, dilation] = options;
  double out = static_cast<double>(input->dims[0]) * static_cast<double>(weight->dims[0]);
  for (std::size_t i = 0; i < spatial; ++i) {
    if (stride[i] <= 0) return {};
    const std::int64_t reach = dilation[i] * (weight->dims[2 + i] - 1) + 1;
    const std::int64_t places = (input->dims[2 + i] + 2 * padding[i] - reach) / stride[i] + 1;
    if (places <= 0) return {};
    out *= static_cast<double>(places);
  }
  const double per_output = product_of(std::span(weight->dims).subspan(1));
  return matrix_work(2 * out * per_output,
                     bytes_of(*input) + bytes_of(*weight) + out * input->bytes, *input);
}

}  // namespace

std::optional<OpWork> convolution(Inputs inputs, const OpRule& rule) {
  return convolution_forward(inputs, rule, {1, 0, 2});  // stride, padding, dilation
}

std::optional<OpWork> library_convolution(Inputs inputs, const OpRule& rule) {
  return convolution_forward(inputs, rule, {0, 1, 2});  // padding, stride, dilation
}

// (grad_output, input, weight, …, output_mask): "[True, True, False]" asks for two gradients.
std::optional<OpWork> convolution_backward(Inputs inputs, const OpRule&) {
  const OpInput* out = tensor(inputs, 0);
  const OpInput* input = tensor(inputs, 1);
  const OpInput* weight = tensor(inputs, 2);
  if (out == nullptr || input == nullptr || weight == nullptr || weight->dims.size() < 3) return {};
  const std::string& mask = inputs.back().concrete;
  double gradients = 2;
  if (mask.starts_with("[True, False")) gradients = 1;
  if (mask.starts_with("[False, True")) gradients = 1;
  const double one = 2 * out->elements() * product_of(std::span(weight->dims).subspan(1));
  const double bytes = bytes_of(*out) + bytes_of(*input) + bytes_of(*weight);
  return matrix_work(gradients * one, gradients * bytes, *input);
}

namespace {

// Queries, keys and values from `first` on, as [B,H,S,d] or, as flash attention has them,
// [B,S,H,d]. `causal` is the input that says whether half of it is masked.
std::optional<OpWork> attention(Inputs inputs, std::size_t first, bool heads_come_last,
                                bool is_causal) {
  const OpInput* q = tensor(inputs, first);
  const OpInput* k = tensor(inputs, first + 1);
  const OpInput* v = tensor(inputs, first + 2);
  if (q == nullptr || k == nullptr || v == nullptr) return {};
  if (q->dims.size() != 4 || k->dims.size() != 4 || v->dims.size() != 4) return {};
  const std::size_t rows = heads_come_last ? 1 : 2;
  const auto keys = static_cast<double>(k->dims[rows]);
  const double d = static_cast<double>(q->dims[3] + v->dims[3]) / 2;
  const double queries = product_of(std::span(q->dims).first(3));  // BHS
  const double flop = 4 * queries * keys * d * (is_causal ? 0.5 : 1);
  const double out = queries * static_cast<double>(v->dims[3]) * q->bytes;
  return matrix_work(flop, bytes_of(*q) + bytes_of(*k) + bytes_of(*v) + out, *q);
}

bool is_true(Inputs inputs, std::size_t at) {
  return at < inputs.size() && inputs[at].concrete == "True";
}

// Of flash attention the first bool says whether it is causal.
bool first_bool(Inputs inputs) {
  const auto known = std::ranges::find_if(inputs, [](const OpInput& input) {
    return input.concrete == "True" || input.concrete == "False";
  });
  return known != inputs.end() && known->concrete == "True";
}

}  // namespace

std::optional<OpWork> flash_forward(Inputs inputs, const OpRule& rule) {
  return attention(inputs, rule.first, rule.second == 1, first_bool(inputs));
}

namespace {

std::optional<OpWork> backward_of(std::optional<OpWork> forward) {
  if (!forward) return {};
  forward->flop *= 2.5;
  forward->bytes *= 2;
  return forward;
}

}  // namespace

std::optional<OpWork> flash_backward(Inputs inputs, const OpRule& rule) {
  return backward_of(flash_forward(inputs, rule));
}

// (query, key, value, bias, compute_log_sumexp, dropout, is_causal, …)
std::optional<OpWork> efficient_attention(Inputs inputs, const OpRule& rule) {
  return attention(inputs, rule.first, false, is_true(inputs, 6));
}

// (query, key, value, bias, …, custom_mask_type, …), [B,S,H,d]; masks 1 and 2 are causal.
std::optional<OpWork> efficient_forward(Inputs inputs, const OpRule& rule) {
  const bool is_causal =
      inputs.size() > 9 && (inputs[9].concrete == "1" || inputs[9].concrete == "2");
  return attention(inputs, rule.first, true, is_causal);
}

namespace {

constexpr double kUnaryFlop = 5;

std::optional<OpWork> pass(Inputs inputs, const OpRule& rule, double passes) {
  const OpInput* input = tensor(inputs, rule.first);
  if (input == nullptr) return {};
  return OpWork{kUnaryFlop * input->elements(), passes * bytes_of(*input)};
}

}  // namespace

std::optional<OpWork> unary(Inputs inputs, const OpRule& rule) {
  return pass(inputs, rule, 2);
}

std::optional<OpWork> unary_backward(Inputs inputs, const OpRule& rule) {
  return pass(inputs, rule, 3);
}

namespace {

// Of what is broadcast together, the size of each dimension is that of the largest.
double broadcast_elements(Inputs inputs) {
  std::vector<std::int64_t> dims;
  for (const OpInput& input : inputs) {
    if (!input.is_tensor()) continue;
    if (dims.size() < input.dims.size())
      dims.insert(dims.begin(), input.dims.size() - dims.size(), 1);
    const std::size_t skip = dims.size() - input.dims.size();
    for (std::size_t i = 0; i < input.dims.size(); ++i) {
      dims[skip + i] = std::max(dims[skip + i], input.dims[i]);
    }
  }
  return dims.empty() ? 0 : product_of(dims);
}

// Operands as stored, and an output of their widest type; `written` where it has another.
std::optional<OpWork> pointwise_of(Inputs inputs, int written) {
  double read = 0;
  for (const OpInput& input : inputs) {
    if (!input.is_tensor()) continue;
    read += bytes_of(input);
    if (written == 0 || input.bytes > written) written = std::max(written, input.bytes);
  }
  const double elements = broadcast_elements(inputs);
  if (elements <= 0) return {};
  return OpWork{elements, read + elements * written};
}

}  // namespace

std::optional<OpWork> binary(Inputs inputs, const OpRule&) {
  return pointwise_of(inputs, 0);
}

std::optional<OpWork> comparison(Inputs inputs, const OpRule&) {
  std::optional<OpWork> work = pointwise_of(inputs, 0);
  if (!work) return {};
  double read = 0;
  for (const OpInput& input : inputs) {
    if (input.is_tensor()) read += bytes_of(input);
  }
  work->bytes = read + work->flop;  // a byte per element
  return work;
}

// (into, from): what was there is not read.
std::optional<OpWork> copy(Inputs inputs, const OpRule&) {
  const OpInput* into = tensor(inputs, 0);
  const OpInput* from = tensor(inputs, 1);
  if (into == nullptr || from == nullptr) return {};
  return OpWork{into->elements(), bytes_of(*into) + bytes_of(*from)};
}

std::optional<OpWork> fill(Inputs inputs, const OpRule&) {
  const OpInput* into = tensor(inputs, 0);
  return into == nullptr ? std::nullopt : std::optional(OpWork{0, bytes_of(*into)});
}

std::optional<OpWork> reduction(Inputs inputs, const OpRule&) {
  const OpInput* input = tensor(inputs, 0);
  return input == nullptr ? std::nullopt
                          : std::optional(OpWork{input->elements(), bytes_of(*input)});
}

// A table and the numbers of the rows that are wanted.
std::optional<OpWork> rows_of_table(Inputs inputs, const OpRule& rule) {
  const OpInput* table = tensor(inputs, 0);
  const OpInput* rows = tensor(inputs, rule.second);
  if (table == nullptr || rows == nullptr || table->dims.size() != 2) return {};
  const double moved = rows->elements() * static_cast<double>(table->dims[1]) * table->bytes;
  return OpWork{0, 2 * moved};
}

}  // namespace fathom::analyze::op_formulas
