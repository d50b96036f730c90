#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/format.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "trace/write.h"

namespace fathom::cli {
namespace {

constexpr const char* kConvertNotes = R"(
The extension of OUT decides the format: .json, .json.gz, .json.zst (Chrome), .pftrace (Perfetto),
.profile.json (Fathom's profile).

Examples:
  fathom convert trace.json.gz trace.pftrace
  fathom convert run.pftrace run.json.gz
  fathom convert run.pftrace run.profile.json)";

struct ConvertOptions {
  std::string in;
  std::string out;
};

Ending run(const ConvertOptions& options, Files& files) {
  files.will_write(options.out);
  const trace::Trace trace = files.load(options.in);
  trace::write_trace(trace, options.out);
  std::error_code unknown;  // a pipe has no size
  const auto bytes = std::filesystem::file_size(options.out, unknown);
  base::say(stdout,
            fmt::format("{}: {}{}\n", base::printable(options.out),
                        base::format_plural(trace.spans.size(), "span", "spans"),
                        unknown ? "" : ", " + base::format_bytes(static_cast<double>(bytes))));
  return {};
}

}  // namespace

Command convert_command() {
  auto options = std::make_shared<ConvertOptions>();
  Command command = {"convert", "Writes a trace in another format", kConvertNotes};
  command.positional("IN", &options->in, "A trace or profile of any format Fathom reads");
  command.positional("OUT", &options->out, "The file to write");
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
