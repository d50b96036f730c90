#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "record/launch/launch.h"

namespace {

constexpr int kBadUsageOrInput = 2;

constexpr const char* kExamples = R"(
Examples:
  fathom report trace.json.gz                 where the time went, as text
  fathom report run.pftrace --top 30 --json   the same for a script
  fathom suggest trace.json.gz                what to change, and what it would bring
  fathom memory -- ./app                      memory over time: the peak, and what was never freed
  fathom convert trace.json.gz trace.pftrace  open a PyTorch trace in ui.perfetto.dev

Reads Kineto/Chrome JSON (.gz, .zst), Perfetto, Nsight Systems SQLite exports, PyTorch memory
snapshots and Fathom's own runs and profiles; the content tells which, not the name.)";

int say(const std::string& problem) {
  fmt::print(stderr, "fathom: {}\n", problem);
  return kBadUsageOrInput;
}

// CLI11 takes a "--" right after `--json [FILE]` for the end of that option, and not for the mark
// that a program follows; a second one is the mark.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto mark = std::ranges::find(words, "--");
  if (mark == words.end()) return words;
  const std::size_t before = static_cast<std::size_t>(mark - words.begin());
  const auto is_json = [&](std::size_t back) {
    return before >= back && words[before - back] == "--json";
  };
  if (is_json(1) || (is_json(2) && !words[before - 1].starts_with('-'))) words.insert(mark, "--");
  return words;
}

// What was wrong with the command line, and whose --help says how it is right.
std::string usage_problem(const CLI::App& app, const std::vector<std::string>& words,
                          const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (!chosen.empty()) {
    std::string problem = error.what();
    if (problem.ends_with(" missing")) {  // "--top: 1 required UINT:0 or more missing"
      problem = problem.substr(0, problem.find(':')) + " needs a value";
    }
    return fmt::format("{}. Try: fathom {} --help", problem, chosen[0]->get_name());
  }
  if (words.empty()) return "a command is required. Try: fathom --help";
  return fmt::format("{} is no {} of fathom. Try: fathom --help", words[0],
                     words[0].starts_with('-') ? "option" : "command");
}

int run(int argc, char** argv) {
  CLI::App app("Fathom: profiles, explains, compares and advises on GPU work.", "fathom");
  app.set_version_flag("--version", "fathom " FATHOM_VERSION);
  app.footer(kExamples);
  app.require_subcommand(1);
  fathom::cli::add_profile(app);
  fathom::cli::add_memory(app);
  fathom::cli::add_report(app);
  fathom::cli::add_flame(app);
  fathom::cli::add_timeline(app);
  fathom::cli::add_hta(app);
  fathom::cli::add_compare(app);
  fathom::cli::add_suggest(app);
  fathom::cli::add_convert(app);
  fathom::cli::add_completion(app);
  const std::vector<std::string> words = words_of(argc, argv);
  try {
    app.parse(
        std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes the last first
  } catch (const CLI::Success& asked) {                           // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return say(usage_problem(app, words, error));
  }
  return fathom::cli::input_was_damaged() ? kBadUsageOrInput : 0;
}

}  // namespace

int main(int argc, char** argv) {
  int status = 0;
  try {
    status = run(argc, argv);
  } catch (const fathom::record::CannotRun& error) {
    say(error.what());
    status = error.exit_status;
  } catch (const fathom::base::Error& error) {
    status = say(error.what());
  } catch (const std::bad_alloc&) {
    status = say("out of memory");
  } catch (const std::exception& error) {
    status = say(error.what());
  }
  // Output that a full disk swallowed must not look like success.
  if (std::fflush(stdout) != 0 && status == 0) status = say("standard output: cannot write");
  return status;
}
