#include <fmt/format.h>
#include <malloc.h>

#include <cstdio>
#include <memory>
#include <new>

#include "base/error.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "record/launch/launch.h"
#include "report/text/wrapped.h"
#include "trace/read.h"

namespace fathom::cli {
namespace {

constexpr const char* kProgramNotes = R"(
Examples:
  fathom report trace.json.gz                 where the time went, as text
  fathom report run.pftrace --top 30 --json   the same for a script
  fathom suggest trace.json.gz                what to change, and what it would save
  fathom memory -- ./app                      memory over time: the peak, and what was never freed
  fathom convert trace.json.gz trace.pftrace  open a PyTorch trace in ui.perfetto.dev)";

Ending say(const std::string& problem, int status = kBadUsageOrInput) {
  base::say(stderr, "fathom: " + base::printable(problem) + "\n");
  return {.status = status};
}

// For --help and completion; parse() makes `fathom COMMAND --help` of it.
Command help_command() {
  auto command = std::make_shared<std::string>();
  Command help = {"help", "Shows this help, or that of a command", ""};
  help.options.push_back(
      {.names = "COMMAND", .target = command.get(), .what = "The command to explain"});
  help.run = [command](Files&) { return Ending{}; };
  return help;
}

std::string what_is_read() {
  constexpr std::size_t kHelpColumns = 100;
  std::string text = report::wrapped(
      fmt::format("Reads {}, recognised by content, not by file name. As the name of a file, - is "
                  "standard input or standard output.",
                  trace::kFormatsRead),
      "", kHelpColumns);
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

Ending run(int argc, char** argv) {
  Program program = {.name = "fathom",
                     .summary = "Fathom: profiles, explains, compares and advises on GPU work.",
                     .notes = kProgramNotes + ("\n\n" + what_is_read()),
                     .version = FATHOM_VERSION};
  program.commands = {profile_command(),
                      memory_command(),
                      report_command(),
                      open_command(),
                      flame_command(),
                      timeline_command(),
                      hta_command(),
                      compare_command(),
                      suggest_command(),
                      compile_command(),
                      tune_command(),
                      route_command(),
                      convert_command(),
                      devices_command(),
                      monitor_command(),
                      serve_command(),
                      token_command(),
                      audit_command(),
                      completion_command(program),
                      help_command()};
  const Command* const command = parse(program, {argv + 1, argv + argc});
  if (command == nullptr) return {};
  Files files;
  const Ending ending = command->run(files);
  if (ending.is_the_programs) return ending;
  return files.input_was_damaged() ? Ending{.status = kBadUsageOrInput} : ending;
}

Ending run_or_say_why_not(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const record::CannotRun& error) {
    return say(error.what(), error.exit_status);
  } catch (const std::bad_alloc&) {
    return say("out of memory");
  } catch (const std::exception& error) {
    return say(error.what());
  }
}

// Memory that is given back is mostly wanted again at once, by another thread or for the next file:
// what comes from the system anew is cleared page by page, a fifth of all the time of `hta`.
void keep_memory() {
  constexpr int kAlways = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kAlways);
  mallopt(M_TRIM_THRESHOLD, kAlways);
  mallopt(M_ARENA_MAX, 1);
}

}  // namespace
}  // namespace fathom::cli

int main(int argc, char** argv) {
  using namespace fathom;
  cli::keep_memory();
  record::hold_standard_descriptors();
  cli::Ending ending = cli::run_or_say_why_not(argc, argv);
  // Output that a full disk swallowed must not look like an answer, be it good or bad.
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!is_written && ending.status != cli::kBadUsageOrInput && !ending.is_the_programs)
    ending = cli::say("standard output: cannot write");
  if (ending.signal != 0) record::end_like({.signal = ending.signal});
  return ending.status;
}
