#pragma once

#include <cstdint>
#include <string_view>

#include "trace/trace.h"

namespace fathom::analyze {

// Servers of language models that have options of their own for what others write in code.
enum class Server : std::uint8_t { none, vllm, sglang };

// Whether a name is of a package: operations, annotations and frames of Python alike
// ("vllm::moe_forward", "vllm/v1/utils.py(12): f", "/workspace/sglang/srt/server.py(1): run").
// `folder` is "/vllm/".
bool is_of_package(std::string_view name, std::string_view folder);

// The server whose operation, annotation or frame this is.
Server server_of(std::string_view name);

// The server that a trace is of. SGLang may use operations of vLLM.
Server server_of(const trace::Trace& trace);

}  // namespace fathom::analyze
