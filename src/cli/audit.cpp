#include <fmt/format.h>

#include <memory>

#include "base/format.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "serve/audit.h"

namespace fathom::cli {
namespace {

constexpr const char* kAuditNotes = R"(
Exit status 0: every line follows from the one before it. 1: one was changed, removed or moved, and
the line where that shows is named. What a chain cannot show is that its last lines are missing, or
that all of it was written anew: compare the number of lines and the last hash with what you noted
elsewhere (the series fathom_audit_lines_total has the number).

Examples:
  fathom audit verify ~/.local/state/fathom/audit-6970.jsonl)";

struct AuditOptions {
  std::string action;
  std::string file;
};

Ending run(const AuditOptions& options, Files& files) {
  const serve::AuditVerdict verdict = serve::verify_audit(files.name_to_open(options.file));
  const std::string file = base::printable(options.file);
  if (!verdict.fault.empty()) {
    base::say(stdout, fmt::format("{}: line {} {}\n", file, verdict.at_line, verdict.fault));
    return {.status = 1};
  }
  if (verdict.lines == 0) {
    base::say(stdout,
              file + ": is empty. A server writes a line when it starts: all were removed\n");
    return {.status = 1};
  }
  base::say(stdout, fmt::format("{}: {}, none changed or removed between the first and the last\n"
                                "last hash {}\n",
                                file, base::format_plural(verdict.lines, "line", "lines"),
                                verdict.last_hash));
  return {};
}

}  // namespace

Command audit_command() {
  auto options = std::make_shared<AuditOptions>();
  Command command = {"audit", "Checks the audit log of fathom serve", kAuditNotes};
  command.options.push_back({.names = "ACTION",
                             .target = &options->action,
                             .what = "What to do: verify",
                             .choices = {"verify"},
                             .is_required = true});
  command.positional("FILE", &options->file, "The audit log");
  command.run = [options](Files& files) { return run(*options, files); };
  return command;
}

}  // namespace fathom::cli
