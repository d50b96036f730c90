#pragma once

#include <string>
#include <vector>

#include "analyze/compile/compile_log.h"
#include "cli/files.h"

namespace fathom::cli {

// As analyze::read_job_logs; none of them is overwritten.
std::vector<analyze::CompileLog> read_compile_logs(const std::string& source, Files& files);

}  // namespace fathom::cli
