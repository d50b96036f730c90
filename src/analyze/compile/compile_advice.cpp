#include "analyze/compile/compile_advice.h"

#include <algorithm>
#include <cctype>
#include <span>

namespace fathom::analyze {
namespace {

// A part of the reason, in lower case, and what to do; the first that fits counts. Add yours above
// the first that would hide it.
struct KnownReason {
  std::string_view part;
  std::string_view advice;
};

constexpr KnownReason kBreaks[] = {
    {"item(",
     "Keep the value on the GPU, or set torch._dynamo.config.capture_scalar_outputs = True"},
    {"capture_scalar_outputs",
     "Keep the value on the GPU, or set torch._dynamo.config.capture_scalar_outputs = True"},
    {"nonzero",
     "Set torch._dynamo.config.capture_dynamic_output_shape_ops = True, or use torch.where"},
    {"dynamic shape operator",
     "Set torch._dynamo.config.capture_dynamic_output_shape_ops = True, or use torch.where"},
    {"data-dependent", "Use torch.where or torch.cond in place of an if on a tensor's values"},
    {"data dependent", "Use torch.where or torch.cond in place of an if on a tensor's values"},
    {"generic_jump", "Use torch.where or torch.cond in place of an if on a tensor's values"},
    {"print",
     "Move the print out of the compiled function, or add it to "
     "torch._dynamo.config.reorderable_logging_functions"},
    {"logging",
     "Move the logging out of the compiled function, or set "
     "torch._dynamo.config.ignore_logger_methods"},
    {"warnings", "Move the warning out of the compiled function"},
    {"graph_break", "The code asks for this break: torch._dynamo.graph_break()"},
    {"torch._dynamo.disable",
     "The function is marked with torch.compiler.disable; remove the mark "
     "if the function can be traced"},
    {"marked as skipped",
     "Make it a custom operator (torch.library.custom_op), or call it outside "
     "of the compiled function"},
    {"skip function",
     "Make it a custom operator (torch.library.custom_op), or call it outside of "
     "the compiled function"},
    {"skipfiles",
     "Make it a custom operator (torch.library.custom_op), or call it outside of the "
     "compiled function"},
    {"skip_files",
     "Make it a custom operator (torch.library.custom_op), or call it outside of the "
     "compiled function"},
    {"context manager", "Move the with block out of the compiled function"},
    {"autograd.function",
     "Give the autograd.Function a setup_context, without side effects in "
     "forward and backward"},
    {"generator", "Return a list in place of a generator"},
    {"builtin", "Move the call out of the compiled function, or write it with tensor operations"},
    {"numpy", "Use tensor operations, or call NumPy outside of the compiled function"},
};

constexpr KnownReason kRecompiles[] = {
    {"size mismatch",
     "Use torch.compile(dynamic=True), or torch._dynamo.mark_dynamic(tensor, dim) "
     "for the size that changes"},
    {"stride mismatch", "Call with tensors of one layout: .contiguous() before the call"},
    {"rank mismatch",
     "Call with tensors of the same number of dimensions, or compile a function "
     "for each"},
    {"dtype mismatch", "Call with one data type, or compile a function for each"},
    {"requires_grad mismatch",
     "Compile training and inference apart, or call both under the same "
     "grad mode"},
    {"grad_mode", "Call it under one grad mode, or compile a function for each"},
    {"autocast", "Enter autocast in the same way for each call"},
    {"global_state changed",
     "Call it under the same global settings: grad mode, autocast, threads"},
    {"check_obj_id", "Do not make the object anew for each call: keep one and pass it"},
    {"check_type_id", "Call with arguments of one type, or compile a function for each"},
    {"___dict_version", "Do not change the module's attributes between calls"},
    {"len(", "Call with lists of one length, or pass a tensor"},
    {"==",
     "A number of Python's is part of the compiled code: pass it as a tensor, or mark it "
     "dynamic (torch.compile(dynamic=True))"},
};

constexpr KnownReason kFailures[] = {
    {"recompile_limit",
     "Remove the cause of its recompilations; torch._dynamo.config.recompile_limit allows more"},
    {"cache_size_limit",
     "Remove the cause of its recompilations; torch._dynamo.config.cache_size_limit allows more"},
    {"recompilelimitexceeded",
     "Remove the cause of its recompilations; torch._dynamo.config.recompile_limit allows more"},
    {"faketensor",
     "An operation did not work on tensors without data: check the shapes and devices at that "
     "line, "
     "or register a fake implementation for a custom operator (torch.library.register_fake)"},
    {"fake tensor",
     "An operation did not work on tensors without data: check the shapes and devices at that "
     "line, "
     "or register a fake implementation for a custom operator (torch.library.register_fake)"},
    {"torchruntimeerror",
     "Run it without torch.compile: the operation at that line most likely fails there too"},
    {"lowering",
     "Compile with backend=\"aot_eager\" to see that Inductor is the cause, then report it"},
    {"inductorerror",
     "Compile with backend=\"aot_eager\" to see that Inductor is the cause, then report it"},
    {"cppcompileerror", "Install a C++ compiler that Inductor finds (CXX)"},
    {"backendcompilerfailed",
     "Compile with backend=\"eager\", then \"aot_eager\": the first that fails is the part at "
     "fault"},
};

constexpr KnownReason kCudagraphs[] = {
    {"mutated inputs", "Do not write to the inputs: copy them first"},
    {"cpu device", "Move the tensors on the CPU to the GPU before the call"},
    {"cpu ops", "Move the tensors on the CPU to the GPU before the call"},
    {"dynamic shape", "Call with a few fixed sizes: pad to the next of them"},
    {"incompatible ops", "Move the operations that it names out of the compiled function"},
    {"multiple devices", "Keep all tensors of the function on one GPU"},
};

std::string_view first_known(std::span<const KnownReason> table, std::string_view reason) {
  const auto is_same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  };
  for (const KnownReason& known : table) {
    const auto at =
        std::search(reason.begin(), reason.end(), known.part.begin(), known.part.end(), is_same);
    if (at != reason.end()) return known.advice;
  }
  return {};
}

}  // namespace

std::string_view break_advice(std::string_view reason) {
  return first_known(kBreaks, reason);
}

std::string_view recompile_advice(std::string_view reason) {
  return first_known(kRecompiles, reason);
}

std::string_view failure_advice(std::string_view reason) {
  const std::string_view known = first_known(kFailures, reason);
  return known.empty() ? first_known(kBreaks, reason) : known;
}

std::string_view cudagraph_advice(std::string_view reason) {
  return first_known(kCudagraphs, reason);
}

std::string_view rerecording_advice() {
  return "Call with a few fixed sizes, keep parameters where they are in memory, and call "
         "torch.compiler.cudagraph_mark_step_begin() before each step";
}

}  // namespace fathom::analyze
