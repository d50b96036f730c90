#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "base/format.h"
#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/load.h"
#include "trace/write.h"

namespace fathom::cli {
namespace {

constexpr const char* kExamples = R"(
OUT's ending says the format: .json, .json.gz, .json.zst (Chrome), .pftrace (Perfetto),
.profile.json (Fathom's profile).

Examples:
  fathom convert trace.json.gz trace.pftrace
  fathom convert run.pftrace run.json.gz
  fathom convert run.pftrace run.profile.json)";

struct Options {
  std::string in;
  std::string out;
};

void run(const Options& options) {
  will_write(options.out);
  const trace::Trace trace = load(options.in);
  trace::write_trace(trace, options.out);
  fmt::print("{}: {}, {}\n", options.out, base::format_plural(trace.spans.size(), "span", "spans"),
             base::format_bytes(static_cast<double>(std::filesystem::file_size(options.out))));
}

}  // namespace

void add_convert(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("convert", "Writes a trace in another format");
  command->add_option("IN", options->in, "A trace or profile of any format Fathom reads")
      ->required();
  command->add_option("OUT", options->out, "The file to write")->required();
  command->footer(kExamples);
  command->callback([options] { run(*options); });
}

}  // namespace fathom::cli
