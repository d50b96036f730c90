#include "cli/compile_logs.h"

#include "analyze/compile/job_logs.h"

namespace fathom::cli {

std::vector<analyze::CompileLog> read_compile_logs(const std::string& source, Files& files) {
  if (source == kStandard) {
    std::vector<analyze::CompileLog> logs;
    logs.push_back(analyze::read_compile_log(*files.open(source)));
    return logs;
  }
  return analyze::read_job_logs(source, [&](const std::string& path) { files.will_read(path); });
}

}  // namespace fathom::cli
