#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/format.h"
#include "base/json_writer.h"
#include "base/printable.h"
#include "base/progress.h"
#include "base/table.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/tune_from.h"
#include "record/launch/injection.h"
#include "report/json/document.h"
#include "runtime/machine_profile.h"
#include "runtime/tune_entry.h"

namespace fathom::cli {
namespace {

constexpr const char* kTuneNotes = R"(
Measures what operations take on each device of this machine, about half a second each, and writes
the machine's profile: FATHOM_MACHINE_PROFILE, else ~/.config/fathom/machine.json. Interrupted, it
goes on where it was. `fathom route` and the runtime library go by it.

Examples:
  fathom tune
  fathom tune --again                 measure everything anew
  fathom tune --from run.pftrace      from a recorded run of a program that uses the runtime library
  fathom tune -o gpu-node.json        to a file that FATHOM_MACHINE_PROFILE will name
  fathom tune --json | jq .operations)";

struct TuneCommandOptions {
  std::string output;
  std::vector<std::string> from;
  bool again = false;
  bool no_cuda = false;
  bool no_opencl = false;
  Outputs outputs;
};

using Measure = decltype(&fathom_tune_this_machine);

// The library that computes takes a while to load, so that no other command loads it.
Measure measuring_function() {
  const std::string path = record::recorder_library("libfathom_runtime.so");
  void* const library = dlopen(path.empty() ? "libfathom_runtime.so" : path.c_str(), RTLD_NOW);
  void* const found = library != nullptr ? dlsym(library, "fathom_tune_this_machine") : nullptr;
  if (found == nullptr) {
    throw base::Error("libfathom_runtime.so", "cannot be loaded",
                      "It is installed beside the program");
  }
  return reinterpret_cast<Measure>(found);
}

void measure(const TuneCommandOptions& options, const std::string& path) {
  runtime::TuneOptions asked;
  asked.path = path;
  asked.begins_anew = options.again;
  asked.uses_cuda = !options.no_cuda;
  asked.uses_opencl = !options.no_opencl;
  std::unique_ptr<base::Progress> progress;
  std::size_t done = 0;
  asked.progress = [&](const runtime::TuneStep& step) {
    if (!progress) progress = std::make_unique<base::Progress>("measuring", step.all);
    progress->advance(step.done - std::exchange(done, step.done));
  };
  measuring_function()(asked);
}

// Where an operation runs as it grows.
struct Crossover {
  Operation operation = Operation::xor_words;
  std::string small;                // fastest for small sizes
  std::optional<double> from_size;  // nothing: at all sizes
  std::string large;                // fastest from there on
};

std::vector<Crossover> crossovers(const runtime::MachineProfile& profile) {
  Router router(profile.devices, {.exploration_share = 0});
  runtime::apply(profile, router);
  std::vector<Crossover> found;
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    const auto fastest = [&](double size) { return router.route(operation, size).device; };
    const double most = operation == Operation::matmul ? 1e4 : 1e9;
    double size = 1;
    while (size < most && fastest(size) == fastest(1)) size *= 1.05;
    Crossover& one = found.emplace_back();
    one.operation = operation;
    one.small = router.devices()[fastest(1)].name;
    if (size >= most) continue;
    one.from_size = size;
    one.large = router.devices()[fastest(size)].name;
  }
  return found;
}

std::string to_text(const runtime::MachineProfile& profile, std::size_t width) {
  base::Table table({"operation", "fastest for small sizes", "from size", "fastest from there on"});
  for (const Crossover& one : crossovers(profile)) {
    table.row({std::string(name_of(one.operation)), one.small,
               one.from_size ? base::format_count(static_cast<std::uint64_t>(*one.from_size)) : "–",
               one.from_size ? one.large : "–"});
  }
  return table.text(width);
}

std::string to_json(const runtime::MachineProfile& profile, const std::string& path) {
  std::string text;
  base::JsonWriter json(text);
  report::begin_document(json, "tune");
  json.key("profile").value(path).key("machine").value(profile.machine);
  json.key("devices").begin_array();
  for (const DeviceModel& device : profile.devices) json.value(device.name);
  json.end_array().key("operations").begin_array();
  for (const Crossover& one : crossovers(profile)) {
    json.begin_object().key("operation").value(name_of(one.operation));
    json.key("small").value(one.small).key("from_size").value(one.from_size);
    json.key("large").value(report::known_text(one.large));
    json.end_object();
  }
  json.end_array().end_object();
  return text + "\n";
}

// Where the profile goes, and that it may. Found out first, for measuring takes a while.
std::string profile_path(const TuneCommandOptions& options) {
  if (options.output == kStandard) {
    throw base::Error("-o -", "the profile is read again when measuring goes on",
                      "Name a file; one that is called - is ./-");
  }
  const std::string path =
      options.output.empty() ? runtime::machine_profile_path() : options.output;
  if (path.empty()) {
    throw base::Error("fathom tune",
                      "no place for the profile: neither HOME nor XDG_CONFIG_HOME is set",
                      "Name a file with -o");
  }
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    throw base::Error(path, "is a directory", "Name a file in it");
  }
  if (runtime::is_something_else(path)) {
    throw base::Error(path, "exists and is not a machine profile, so it is not overwritten",
                      "Name another file with -o");
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, unknown);
  return path;
}

Ending run(TuneCommandOptions options, Files& files) {
  const std::string path = profile_path(options);
  files.will_write(path);
  resolve(options.outputs, files, {path, "the machine profile"});
  if (options.from.empty()) {
    measure(options, path);
  } else {
    learn_from_runs(options.from, path, files);
  }
  const auto profile = runtime::machine_profile_or_why_not(path);
  if (!profile) return {.status = kBadUsageOrInput};
  const Outputs& outputs = options.outputs;
  if (outputs.wants_json) write_json(to_json(*profile, path), outputs.json, files);
  if (outputs.wants_text()) {
    write_text(
        fmt::format("{}: {}, {}\n\n", base::printable(path), base::printable(profile->machine),
                    base::format_plural(profile->devices.size(), "device", "devices")) +
            to_text(*profile, base::terminal_width(stdout)) + "\nTry: fathom route matmul 1024\n",
        {}, files);
  }
  return {};
}

}  // namespace

Command tune_command() {
  auto options = std::make_shared<TuneCommandOptions>();
  Command command = {"tune", "Measures this machine, for routing", kTuneNotes};
  command.option("-o,--output", &options->output, "The profile to write");
  command.option("--from", &options->from, "Learn from recorded runs instead of measuring");
  command.option("--again", &options->again, "Measure what is in the profile, too");
  command.option("--no-cuda", &options->no_cuda, "Leave out CUDA devices");
  command.option("--no-opencl", &options->no_opencl, "Leave out OpenCL devices");
  command.json(options->outputs, "Which device is fastest from which size on, as JSON",
               JsonWord::is_a_file);
  command.only_one_of = {"--from", "--again"};
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
