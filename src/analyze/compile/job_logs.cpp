#include "analyze/compile/job_logs.h"

#include <algorithm>
#include <filesystem>

#include "analyze/compile/log_records.h"
#include "base/error.h"
#include "trace/read/input.h"

namespace fathom::analyze {
namespace {

namespace fs = std::filesystem;
using WillRead = std::function<void(const std::string&)>;

std::vector<CompileLog> read_folder(const std::string& folder, const WillRead& will_read) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.file_size() > 0) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<CompileLog> logs;
  for (const fs::path& path : paths) {
    const auto input = trace::Input::open(path.string());
    if (!is_compile_log(input->head())) continue;
    if (will_read) will_read(path.string());
    logs.push_back(read_compile_log(*input));
  }
  if (logs.empty()) {
    throw base::Error(folder, "no log of torch.compile in this folder",
                      "Record one: TORCH_TRACE=logs python train.py");
  }
  return logs;
}

}  // namespace

std::vector<CompileLog> read_job_logs(const std::string& source, const WillRead& will_read) {
  std::error_code unknown;
  if (fs::is_directory(source, unknown)) return read_folder(source, will_read);
  if (will_read) will_read(source);
  std::vector<CompileLog> logs;
  logs.push_back(read_compile_log(*trace::Input::open(source)));
  return logs;
}

}  // namespace fathom::analyze
