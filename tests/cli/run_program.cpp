#include "cli/run_program.h"

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace fathom::cli {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

Outcome run_program(const std::vector<std::string>& arguments, const RunOptions& options) {
  const Scratch scratch;
  const std::string out = scratch.path("out");
  const std::string err = scratch.path("err");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, options.input.c_str(), 0, 0);
  const std::string& stdout_path = options.output.empty() ? out : options.output;
  posix_spawn_file_actions_addopen(&actions, 1, stdout_path.c_str(), 01 | 0100, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), 01 | 0100, 0600);

  posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (options.own_group) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);

  std::string program = FATHOM_BINARY_DIR "/bin/fathom";
  std::vector<std::string> words = options.under;
  words.push_back(program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  options.columns.empty() ? unsetenv("COLUMNS") : setenv("COLUMNS", options.columns.c_str(), 1);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, argv.front(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) throw std::runtime_error("cannot start " + program);
  if (options.started) options.started(child);
  int status = 0;
  struct rusage used {};
  wait4(child, &status, 0, &used);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          content_of(out), content_of(err), std::int64_t{used.ru_maxrss} * 1024};
}

Scratch::Scratch() {
  std::string pattern = (std::filesystem::temp_directory_path() / "fathom-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string Scratch::write(const std::string& name, const std::string& content) const {
  std::ofstream(path(name), std::ios::binary) << content;
  return path(name);
}

}  // namespace fathom::cli
