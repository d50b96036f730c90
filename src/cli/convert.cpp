#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/format.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "trace/write.h"

namespace fathom::cli {
namespace {

constexpr const char* kConvertNotes = R"(
The extension of OUT decides the format:
  .pftrace, .perfetto-trace                              Perfetto
  .json, .json.gz, .json.zst                             Chrome
  .profile.json, .profile.json.gz, .profile.json.zst     Fathom's profile

Examples:
  fathom convert trace.json.gz trace.pftrace
  fathom convert run.pftrace run.json.gz
  fathom convert run.pftrace run.profile.json)";

struct ConvertOptions {
  std::string in;
  std::string out;
};

std::string written_text(const trace::Trace& trace, std::size_t written) {
  const std::string all = base::format_plural(trace.spans.size(), "span", "spans");
  if (written == trace.spans.size()) return all;
  const bool has_scopes =
      std::ranges::find(trace.spans.kind, trace::SpanKind::scope) != trace.spans.kind.end();
  return fmt::format("{} of {} written (a profile holds {})", base::format_count(written), all,
                     has_scopes ? "scopes only" : "no GPU work");
}

Ending run(const ConvertOptions& options, Files& files) {
  files.will_write(options.out);
  const trace::Trace trace = files.load(options.in);
  const std::size_t written = trace::write_trace(trace, options.out);
  std::error_code unknown;  // a pipe has no size
  const auto bytes = std::filesystem::file_size(options.out, unknown);
  base::say(
      stdout,
      fmt::format("fathom: {}: {}{}\n", base::printable(options.out), written_text(trace, written),
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
