#include "analyze/classes/kernel_class.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <string>

namespace fathom::analyze {
namespace {

// One row of the tables below: a name that has one of these words is of this class. Words stand in
// lower case between spaces; a word with ^ has no letter or digit before it, one with $ nothing of
// an identifier after it.
struct ClassRule {
  KernelClass kernel_class;
  std::string_view words;
};

// What the name begins with: kernels of a driver that copy or fill (ROCm's blits), and names that
// profilers give to copies.
constexpr ClassRule kMoves[] = {
    {KernelClass::copy, "memcpy hipmemcpy memory_copy_ __amd_rocclr_copy"},
    {KernelClass::fill, "memset hipmemset __amd_rocclr_fill"},
};

// Who exchanges data with other GPUs: names of library kernels carry their library, those of
// frameworks (vLLM, SGLang, TensorRT-LLM, symmetric memory of PyTorch, DeepEP) what they do. The
// one list of it; `analyze::work_type` goes by it.
constexpr std::string_view kExchanges =
    "^nccl ncclkernel nccldevkernel ^hccl rccl msccl nvshmem rocshmem deep_ep deepep "
    "::ep::internode:: ::ep::intranode:: ::ep::cuda:: internode:: intranode:: internode_ll:: "
    "intranode_ll:: cross_device_reduce multimem_ one_shot two_shot oneshot twoshot lamport "
    "all_reduce allreduce all_gather allgather reduce_scatter reducescatter all_to_all alltoall";
constexpr std::string_view kExchangingOps =
    "^c10d:: _c10d_functional:: record_param_comms symm_mem:: ::all_reduce ::all_gather "
    "::reduce_scatter ::all_to_all _c_custom_ar::";

// A reduction among the threads of a warp or block has the name, but stays on its GPU.
constexpr std::string_view kWithinAGpu[] = {"warp", "block", "warp_", "block_"};

// By operation. First come, first served.
constexpr ClassRule kByOperation[] = {
    {KernelClass::rope_kv, "rotary ^rope cache_ops:: reshape_and_cache kv_cache kvcache"},
    {KernelClass::attention,
     "scaled_dot_product flash_attention efficient_attention cudnn_attention unified_attention "
     "mla_attention paged_attention flash_attn fmha ::mha_fwd ::mha_bwd ::attention"},
    {KernelClass::convolution,
     "convolution ::conv1d ::conv2d ::conv3d ::conv_ _conv1d _conv2d _conv3d _conv_"},
    {KernelClass::moe, "moe fused_experts"},
    {KernelClass::quantize, "quant per_token_cast"},
    {KernelClass::gemm,
     "::mm$ ::mm_ ::addmm ::bmm ::baddbmm ::addbmm ::_addmm scaled_mm grouped_mm int_mm ::matmul "
     "::linear$ ::linear_backward ::dot$ ::vdot$ ::mv$ ::addmv gemm f8f8bf16"},
    {KernelClass::softmax, "softmax"},
    {KernelClass::norm,
     "layer_norm batch_norm group_norm rms_norm instance_norm layernorm rmsnorm batchnorm"},
    {KernelClass::sort,
     "::sort ::argsort topk cumsum cumprod ::argmax ::argmin ::_unique ::unique searchsorted "
     "bincount ::histc kthvalue ::median cummax cummin"},
    {KernelClass::index,
     "embedding ::index ::_index gather scatter ::take masked_select ::nonzero masked_scatter "
     "^fb:: splitlookupfunction permutepooled"},
    {KernelClass::rng,
     "dropout ::uniform ::normal ::bernoulli ::random ::rand multinomial ::exponential"},
    {KernelClass::optimizer, "_fused_adam _fused_sgd _fused_adagrad fused_lamb _amp_"},
    {KernelClass::layout,
     "::copy_$ ::_copy ::clone ::cat$ ::_cat ::stack ::contiguous ::_to_copy ::to$ _pad ::pad$ "
     "::roll$ ::flip$ ::repeat ::tile$ ::unfold ::im2col ::col2im ::permute ::transpose _copy$"},
    {KernelClass::reduce,
     "::sum$ ::mean$ ::max$ ::min$ ::amax$ ::amin$ ::aminmax$ ::prod$ ::any$ ::all$ ::norm$ "
     "vector_norm ::var$ ::var_mean$ ::std$ ::logsumexp nansum count_nonzero"},
};

// By the name of a kernel, template parameters and all. First come, first served.
constexpr ClassRule kByKernel[] = {
    {KernelClass::rope_kv, "reshape_and_cache concat_and_cache set_kv_buffer set_mla_kv"},
    {KernelClass::attention,
     "flash_ flash:: flashattn fmha attn_fwd attn_bwd attention ^mla_ _mla_ batchprefillwith "
     "batchdecodewith singleprefillwith singledecodewith _fwd_grouped_kernel_stage "
     "_fwd_kernel_stage mha_fwd mha_bwd"},
    {KernelClass::convolution,
     "scudnn fprop dgrad wgrad winograd implicit_ igemm_fwd igemm_bwd igemm_wrw bwd_weight "
     "bwd_data conv1d conv2d conv3d convolve convolution _conv_ cudnn::cnn subtensorop nchwtonhwc "
     "nhwctonchw ^batched_transpose_ fft2d_ miopensp3 miopengcn miopenconv naive_conv im2col "
     "col2im"},
    {KernelClass::moe,
     "_matmul_ogs _finalize_matmul moe topk_forward bitmatrix routing _expt_ topk_gating "
     "topkgating expand_to_fused reduce_fused_impl get_fused_mapping count_expert"},
    {KernelClass::gemm,
     "^cijk_ nvjet gemm gemv splitk xmma cublas cutlass rocblas hipblaslt matmul ^bmm_ ^mm_kernel "
     "^dot_kernel"},
    {KernelClass::softmax, "softmax"},
    {KernelClass::norm,
     "layer_norm layernorm rms_norm rmsnorm bn_fw bn_bw batch_norm batchnorm gammabeta group_norm "
     "groupnorm rowwisemoments ln_fwd ln_bwd instance_norm"},
    {KernelClass::sort,
     "radix onesweep rocprim devicescan scan_kernel kernel_scan bitonic sort topk deviceselect "
     "histogram"},
    {KernelClass::index,
     "embedding indexselect index_select permute_pooled indexing_backward index_elementwise "
     "index_put gather scatter ^fb_gpu:: linearize_index bounds_check recat_copy index_kernel"},
    {KernelClass::rng, "distribution_ philox dropout curand"},
    {KernelClass::optimizer, "multi_tensor_apply adamfunctor fused_adam lamb_stage"},
    {KernelClass::quantize,
     "per_token_cast per_channel_cast cast_back cast_to_fp8 quant fp8 mxfp4"},
    {KernelClass::rope_kv, "rotary ^rope kvcache kv_cache kv_buffer kv_indices"},
    {KernelClass::layout,
     "catarray transpose permute copy concatenate_fusion dynamic_update_slice wrapped_concatenate "
     "wrapped_slice"},
    {KernelClass::reduce, "reduce ^sum_ nll_loss"},
    // What XLA fuses around nothing larger is "loop_add_fusion_3", one operation "wrapped_add".
    {KernelClass::elementwise,
     "elementwise act_and_mul silu gelu relu swiglu threshold fillfunctor pool upsample sigmoid "
     "_fusion ^wrapped_"},
};

// By the operations in the name of one of Inductor's kernels, "triton_red_fused_add_mean_rsqrt_0".
// The products that a kernel finishes with a bias are in its name too: only templates ("tem")
// multiply themselves.
constexpr ClassRule kByTemplate[] = {
    {KernelClass::convolution, "convolution"},
    {KernelClass::attention, "attention flex"},
    {KernelClass::gemm, "mm"},
};
constexpr ClassRule kByFused[] = {
    {KernelClass::softmax, "softmax"},
    {KernelClass::norm, "layer_norm batch_norm group_norm rms_norm rsqrt"},
    {KernelClass::index, "embedding ^index scatter gather"},
    {KernelClass::sort, "sort topk cumsum"},
};
// Operations that only move: a kernel that has no others changes the layout.
constexpr std::string_view kMovingOps[] = {
    "clone",  "cat", "copy",     "to",   "view",  "permute", "transpose",
    "unsafe", "pad", "constant", "nd",   "stack", "slice",   "contiguous",
    "expand", "t",   "split",    "with", "sizes", "as",      "strided"};

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// Where a name has a word; npos where it does not.
std::size_t place_of(std::string_view word, std::string_view name) {
  const bool at_begin = word.starts_with('^');
  if (at_begin) word.remove_prefix(1);
  const bool at_end = word.ends_with('$');
  if (at_end) word.remove_suffix(1);
  for (std::size_t at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (at_begin && at > 0 && is_word_char(name[at - 1])) continue;
    if (at_end && end < name.size() && (is_word_char(name[end]) || name[end] == '_')) continue;
    return at;
  }
  return name.npos;
}

template <typename Visit>
bool any_word(std::string_view words, const Visit& visit) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (end > 0 && visit(words.substr(0, end))) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

bool has_any(std::string_view name, std::string_view words) {
  return any_word(words, [&](std::string_view word) { return place_of(word, name) != name.npos; });
}

std::optional<KernelClass> find_rule(std::span<const ClassRule> rules, std::string_view name) {
  const auto rule =
      std::ranges::find_if(rules, [&](const ClassRule& each) { return has_any(name, each.words); });
  return rule == rules.end() ? std::nullopt : std::optional(rule->kernel_class);
}

std::optional<KernelClass> moves_memory(std::string_view kernel) {
  for (const ClassRule& rule : kMoves) {
    if (any_word(rule.words, [&](std::string_view word) { return kernel.starts_with(word); })) {
      return rule.kernel_class;
    }
  }
  return std::nullopt;
}

bool exchanges_data(std::string_view kernel) {
  return any_word(kExchanges, [&](std::string_view word) {
    const std::size_t at = place_of(word, kernel);
    if (at == kernel.npos) return false;
    const std::string_view before = kernel.substr(0, at);
    return std::ranges::none_of(kWithinAGpu,
                                [&](std::string_view who) { return before.ends_with(who); });
  });
}

// In lower case. FBGEMM is a library of embeddings, too: its name says nothing of GEMM.
std::string plain_name(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (std::size_t at = 0; (at = lower.find("fbgemm", at)) != lower.npos;) lower.erase(at + 2, 4);
  return lower;
}

bool only_moves(std::string_view fused) {
  bool moves = false;
  while (!fused.empty()) {
    const std::size_t end = std::min(fused.find('_'), fused.size());
    const std::string_view op = fused.substr(0, end);
    fused.remove_prefix(std::min(end + 1, fused.size()));
    if (op.empty() || std::ranges::all_of(op, [](char c) { return c >= '0' && c <= '9'; }))
      continue;
    if (std::ranges::find(kMovingOps, op) == std::end(kMovingOps)) return false;
    moves = true;
  }
  return moves;
}

// "triton_poi_fused_add_mul_2"; absent for other kernels of Triton.
std::optional<KernelClass> inductor_class(std::string_view kernel) {
  constexpr std::string_view kBegin = "triton_";
  if (!kernel.starts_with(kBegin)) return std::nullopt;
  const std::string_view rest = kernel.substr(kBegin.size());
  const std::string_view type = rest.substr(0, rest.find('_'));
  if (type != "poi" && type != "red" && type != "per" && type != "tem" && type != "for" &&
      type != "mm") {
    return std::nullopt;
  }
  if (type == "mm") return KernelClass::gemm;
  const std::size_t fused = rest.find("fused_");
  const std::string_view ops = fused == rest.npos ? std::string_view() : rest.substr(fused + 6);
  if (type == "tem") return find_rule(kByTemplate, ops).value_or(KernelClass::gemm);
  if (const auto found = find_rule(kByFused, ops)) return found;
  if (only_moves(ops)) return KernelClass::layout;
  return type == "red" || type == "per" ? KernelClass::reduce : KernelClass::elementwise;
}

struct ClassNames {
  std::string_view name;
  std::string_view label;
};

constexpr std::array<ClassNames, kKernelClasses> kNames = {{
    {"copy", "copy"},
    {"fill", "fill"},
    {"communication", "communication"},
    {"attention", "attention"},
    {"convolution", "convolution"},
    {"moe", "mixture of experts"},
    {"gemm", "GEMM"},
    {"softmax", "softmax"},
    {"norm", "normalization"},
    {"index", "index, embedding"},
    {"sort", "sort, scan"},
    {"rng", "random numbers"},
    {"optimizer", "optimizer"},
    {"quantize", "quantization"},
    {"rope_kv", "RoPE, KV cache"},
    {"layout", "layout, casts"},
    {"reduce", "reduction"},
    {"elementwise", "elementwise"},
    {"other", "other kernels"},
}};

}  // namespace

std::string_view name_of(KernelClass kernel_class) {
  return kNames[static_cast<std::size_t>(kernel_class)].name;
}

std::string_view label_of(KernelClass kernel_class) {
  return kNames[static_cast<std::size_t>(kernel_class)].label;
}

std::optional<KernelClass> kernel_class_of(std::string_view name) {
  const auto known = std::ranges::find(kNames, name, &ClassNames::name);
  if (known == kNames.end()) return std::nullopt;
  return static_cast<KernelClass>(known - kNames.begin());
}

KernelClass kernel_class(trace::SpanKind kind, std::string_view kernel, std::string_view op) {
  if (kind == trace::SpanKind::copy) return KernelClass::copy;
  if (kind == trace::SpanKind::fill) return KernelClass::fill;
  const std::string name = plain_name(kernel);
  if (const auto moves = moves_memory(name)) return *moves;
  const std::string within = plain_name(op);
  if (exchanges_data(name) || has_any(within, kExchangingOps)) return KernelClass::communication;
  // Functions of autograd ("RopeLoraFlashAttnFunc") launch whatever they like.
  const bool is_library_op = within.find("::") != within.npos;
  if (is_library_op) {
    if (const auto found = find_rule(kByOperation, within)) return *found;
  }
  if (const auto found = inductor_class(name)) return *found;
  if (const auto found = find_rule(kByKernel, name)) return *found;
  return within.starts_with("aten::") ? KernelClass::elementwise : KernelClass::other;
}

bool is_plain(KernelClass kernel_class) {
  return kernel_class == KernelClass::elementwise || kernel_class == KernelClass::layout ||
         kernel_class == KernelClass::reduce || kernel_class == KernelClass::other;
}

}  // namespace fathom::analyze
