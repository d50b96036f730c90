#pragma once

#include <string>
#include <vector>

#include "analyze/compile/compile_log.h"
#include "cli/files.h"

namespace fathom::cli {

// The logs that torch.compile wrote (TORCH_TRACE): one file, or a folder with one per process. A
// folder may hold other files too, which are left out.
std::vector<analyze::CompileLog> read_compile_logs(const std::string& source, Files& files);

}  // namespace fathom::cli
