#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/format.h"
#include "base/json_scan.h"
#include "base/progress.h"
#include "base/table.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "record/launch/injection.h"
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
  fathom tune -o gpu-node.json)";

struct TuneCommandOptions {
  std::string output;
  std::vector<std::string> from;
  bool again = false;
  bool no_opencl = false;
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
  asked.uses_opencl = !options.no_opencl;
  std::unique_ptr<base::Progress> progress;
  std::size_t done = 0;
  asked.progress = [&](const runtime::TuneStep& step) {
    if (!progress) progress = std::make_unique<base::Progress>("measuring", step.all);
    progress->advance(step.done - std::exchange(done, step.done));
  };
  measuring_function()(asked);
}

struct Calls {
  std::map<double, std::vector<double>> by_size;
};

// Scopes of the runtime library say what they are, how large, and where they ran.
void collect(const trace::Trace& trace, std::map<std::pair<Operation, std::string>, Calls>& found) {
  for (trace::SpanId id = 0; id < trace.spans.size(); ++id) {
    if (trace.spans.kind[id] != trace::SpanKind::scope) continue;
    const auto operation = operation_named(trace.name(id));
    if (!operation) continue;
    std::optional<double> size;
    std::string device;
    base::for_each_member(trace.args(id), base::JsonScanner::Mode::lenient,
                          [&](std::string_view key, std::string_view value) {
                            if (key == "size") size = base::real_of(value);
                            if (key == "runs_on" && value.size() > 2) {
                              device = base::unescaped(value.substr(1, value.size() - 2));
                            }
                          });
    const auto ns = static_cast<double>(trace.spans.duration_ns[id]);
    if (size && *size >= 1 && ns > 0 && !device.empty()) {
      found[{*operation, device}].by_size[*size].push_back(ns);
    }
  }
}

double median_ns(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

// Sizes that were recorded replace those beside them; the others stay.
void replace(std::vector<CallTime>& curve, const Calls& recorded) {
  for (const auto& [size, times] : recorded.by_size) {
    std::erase_if(curve, [at = size](const CallTime& call) {
      return call.size > at / 1.2 && call.size < at * 1.2;
    });
    curve.push_back({size, median_ns(times)});
  }
  std::ranges::sort(curve, {}, &CallTime::size);
}

void learn_from(const std::vector<std::string>& runs, const std::string& path, Files& files) {
  std::map<std::pair<Operation, std::string>, Calls> found;
  for (const std::string& run : runs) collect(files.load(run), found);
  if (found.empty()) {
    throw base::Error(runs[0], "no operation of the runtime library that took 10 µs or longer",
                      "Record a program that uses it: fathom profile -o run.pftrace -- PROGRAM");
  }
  auto profile = runtime::machine_profile_or_why_not(path);
  if (!profile) {
    throw base::Error(path, "no profile of this machine to add to", "First run: fathom tune");
  }
  for (const auto& [key, calls] : found) {
    const auto own = std::ranges::find_if(profile->curves, [&of = key](const auto& curve) {
      return curve.operation == of.first && curve.device == of.second;
    });
    if (own != profile->curves.end()) replace(own->calls, calls);
  }
  runtime::write_machine_profile(path, *profile);
}

// From which size on the other devices are faster than the host.
std::string to_text(const runtime::MachineProfile& profile, std::size_t width) {
  Router router(profile.devices, {.exploration_share = 0});
  runtime::apply(profile, router);
  base::Table table({"operation", "fastest for small sizes", "from size", "fastest from there on"});
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    const DeviceIndex first = router.route(operation, 1).device;
    double size = 1;
    const double most = operation == Operation::matmul ? 1e4 : 1e9;
    while (size < most && router.route(operation, size).device == first) size *= 1.05;
    const bool changes = size < most;
    const auto name = [&](double at) {
      return router.devices()[router.route(operation, at).device].name;
    };
    table.row({std::string(name_of(operation)), name(1),
               changes ? base::format_count(static_cast<std::uint64_t>(size)) : "–",
               changes ? name(size) : "–"});
  }
  return table.text(width);
}

Ending run(const TuneCommandOptions& options, Files& files) {
  const std::string path =
      options.output.empty() ? runtime::machine_profile_path() : options.output;
  if (path.empty()) {
    throw base::Error("fathom tune",
                      "no place for the profile: neither HOME nor XDG_CONFIG_HOME is set",
                      "Name a file with -o");
  }
  if (options.from.empty()) {
    measure(options, path);
  } else {
    learn_from(options.from, path, files);
  }
  const auto profile = runtime::machine_profile_or_why_not(path);
  if (!profile) return {.status = kBadUsageOrInput};
  write_text(fmt::format("{}: {}, {}\n\n", path, profile->machine,
                         base::format_plural(profile->devices.size(), "device", "devices")) +
                 to_text(*profile, base::terminal_width(stdout)) +
                 "\nTry: fathom route matmul 1024\n",
             {}, files);
  return {};
}

}  // namespace

Command tune_command() {
  auto options = std::make_shared<TuneCommandOptions>();
  Command command = {"tune", "Measures this machine, for routing", kTuneNotes};
  command.option("-o,--output", &options->output, "The profile to write");
  command.option("--from", &options->from, "Learn from recorded runs instead of measuring");
  command.option("--again", &options->again, "Measure what is in the profile, too");
  command.option("--no-opencl", &options->no_opencl, "The host alone");
  command.only_one_of = {"--from", "--again"};
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
