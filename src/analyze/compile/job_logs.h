#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyze/compile/compile_log.h"

namespace fathom::analyze {

// The logs that torch.compile wrote (TORCH_TRACE): one file, or a folder with one per process. A
// folder may hold other files too, which are left out. `will_read` is told of each file that is a
// log. Throws base::Error where there is none.
std::vector<CompileLog> read_job_logs(
    const std::string& source, const std::function<void(const std::string&)>& will_read = {});

}  // namespace fathom::analyze
