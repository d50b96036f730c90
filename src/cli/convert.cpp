#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "trace/write.h"

namespace fathom::cli {
namespace {

constexpr const char* kConvertNotes = R"(
The extension of OUT decides the format, unless --format does:
  .pftrace, .perfetto-trace                              Perfetto
  .json, .json.gz, .json.zst                             Chrome
  .profile.json, .profile.json.gz, .profile.json.zst     Fathom's profile

Examples:
  fathom convert trace.json.gz trace.pftrace
  fathom convert run.pftrace run.json.gz
  fathom convert run.pftrace run.profile.json
  fathom convert run.pftrace - --format chrome | gzip > run.json.gz)";

struct ConvertOptions {
  std::string in;
  std::string out;
  std::string format;
  bool force = false;
};

constexpr std::array<std::pair<std::string_view, trace::OutputFormat>, 3> kFormats = {
    {{"chrome", trace::OutputFormat::chrome_json},
     {"perfetto", trace::OutputFormat::perfetto},
     {"profile", trace::OutputFormat::profile_json}}};

trace::OutputFormat format_of(const ConvertOptions& options) {
  for (const auto& [name, format] : kFormats) {
    if (name == options.format) return format;
  }
  if (options.out == kStandard) {
    throw BadUsage(
        "standard output has no name that says which format to write. Add --format chrome"
        ", perfetto or profile");
  }
  return trace::format_of(options.out);
}

std::string written_text(const trace::Trace& trace, std::size_t written) {
  const std::string all = base::format_plural(trace.spans.size(), "span", "spans");
  if (written == trace.spans.size()) return all;
  const bool has_scopes =
      std::ranges::find(trace.spans.kind, trace::SpanKind::scope) != trace.spans.kind.end();
  return fmt::format("{} of {} written (a profile holds {})", base::format_count(written), all,
                     has_scopes ? "scopes only" : "no GPU work");
}

Ending run(const ConvertOptions& options, Files& files) {
  const trace::OutputFormat format = format_of(options);
  if (options.force) {
    files.will_write(options.out);
  } else {
    expect_new(options.out, "Name another file, or add --force", files);
  }
  const trace::Trace trace = files.load(options.in);
  base::Output output = output_to(options.out);
  const std::size_t written = trace::write_trace(trace, output, format);
  if (options.out == kStandard) {
    base::say(stderr, fmt::format("fathom: {}\n", written_text(trace, written)));
    return {};
  }
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
  command.positional("OUT", &options->out, "The file to write; - for standard output");
  command.option("--format", &options->format, "The format to write, whatever OUT is called");
  command.options.back().choices = {"chrome", "perfetto", "profile"};
  command.option("--force", &options->force, "Overwrite OUT if it exists");
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
