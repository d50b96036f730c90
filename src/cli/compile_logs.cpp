#include "cli/compile_logs.h"

#include <algorithm>
#include <filesystem>

#include "analyze/compile/log_records.h"
#include "base/error.h"
#include "trace/read/input.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

std::vector<analyze::CompileLog> read_folder(const std::string& folder, Files& files) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.file_size() > 0) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<analyze::CompileLog> logs;
  for (const fs::path& path : paths) {
    const auto input = trace::Input::open(path.string());
    if (!analyze::is_compile_log(input->head())) continue;
    files.will_read(path.string());
    logs.push_back(analyze::read_compile_log(*input));
  }
  if (logs.empty()) {
    throw base::Error(folder, "no log of torch.compile in this folder",
                      "Record one: TORCH_TRACE=logs python train.py");
  }
  return logs;
}

}  // namespace

std::vector<analyze::CompileLog> read_compile_logs(const std::string& source, Files& files) {
  std::error_code unknown;
  if (fs::is_directory(source, unknown)) return read_folder(source, files);
  files.will_read(source);
  std::vector<analyze::CompileLog> logs;
  logs.push_back(analyze::read_compile_log(*trace::Input::open(source)));
  return logs;
}

}  // namespace fathom::cli
