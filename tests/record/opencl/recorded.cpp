#include "record/opencl/recorded.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "trace/read/perfetto/perfetto.h"

extern char** environ;

namespace fathom::record {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "fathom-record-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

std::vector<std::string> environment_with(const Variables& variables) {
  std::vector<std::string> lines;
  for (char** line = environ; *line != nullptr; ++line) {
    const std::string text = *line;
    if (!text.starts_with("OPENCL_LAYERS=") && !text.starts_with("FATHOM_")) lines.push_back(text);
  }
  lines.push_back("POCL_CACHE_DIR=" FATHOM_BINARY_DIR "/pocl-cache");
  lines.push_back("ASAN_OPTIONS=detect_leaks=0");  // PoCL and LLVM leave much behind
  lines.push_back("TSAN_OPTIONS=ignore_noninstrumented_modules=1 suppressions=" FATHOM_SOURCE_DIR
                  "/tests/record/opencl/tsan.supp");
  for (const auto& [name, value] : variables) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int wait_for(pid_t child) {
  for (int ticks = 0; ticks < 12'000; ++ticks) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  throw std::runtime_error("the program hung");
}

Ran run_in(const fs::path& folder, std::vector<std::string> command, const Variables& variables) {
  fs::create_directories(FATHOM_BINARY_DIR "/pocl-cache");
  const std::string out = folder / "out";
  const std::string err = folder / "err";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT, 0600);
  std::vector<std::string> lines = environment_with(variables);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, command[0].c_str(), &actions, nullptr,
                                  pointers_to(command).data(), pointers_to(lines).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start " + command[0]);
  const int status = wait_for(child);
  return {status, content_of(out), content_of(err)};
}

}  // namespace

Ran run(const std::vector<std::string>& command, const Variables& variables) {
  const Folder folder;
  return run_in(folder.path, command, variables);
}

Recorded run_recorded(const std::vector<std::string>& command, const Variables& variables) {
  const Folder folder;
  Variables all = variables;
  all.emplace_back("OPENCL_LAYERS", FATHOM_LAYER);
  all.emplace_back("FATHOM_RUN_FILE", folder.path / "run-%p.pftrace");
  Recorded recorded;
  recorded.ran = run_in(folder.path, command, all);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path)) {
    if (entry.path().extension() != ".pftrace") continue;
    const auto bytes = std::make_shared<std::string>(content_of(entry.path()));
    recorded.runs.push_back(trace::read_perfetto(*bytes, bytes));
  }
  return recorded;
}

std::string opencl_program() {
  return FATHOM_OPENCL_PROGRAM;
}

std::vector<Item> items_of(const trace::Trace& run, trace::SpanKind kind, const std::string& name) {
  std::vector<Item> items;
  std::map<trace::SpanId, std::int64_t> bytes;
  for (const trace::SpanBytes& item : run.bytes) bytes[item.span] = item.bytes;
  for (trace::SpanId id = 0; id < run.spans.size(); ++id) {
    if (run.spans.kind[id] != kind || run.name(id) != name) continue;
    const auto moved = bytes.find(id);
    items.push_back({std::string(run.name(id)), run.spans.duration_ns[id],
                     moved == bytes.end() ? -1 : moved->second, run.spans.correlation[id],
                     run.args(id)});
  }
  return items;
}

std::size_t count_of(const trace::Trace& run, trace::SpanKind kind) {
  return static_cast<std::size_t>(std::count(run.spans.kind.begin(), run.spans.kind.end(), kind));
}

std::vector<Truth> truths_of(const std::string& err) {
  std::vector<Truth> truths;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("truth ")) continue;
    std::istringstream words(line.substr(6));
    Truth truth;
    words >> truth.kind >> truth.name >> truth.count >> truth.bytes;
    truths.push_back(truth);
  }
  return truths;
}

}  // namespace fathom::record
