#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "serve/tokens.h"

namespace fathom::cli {
namespace {

constexpr const char* kTokenNotes = R"(
metrics: may read /metrics. viewer: may look at everything but the command lines of processes.
admin: may also start and stop sessions, upload files and see command lines.
The token is printed once; the file holds its hash. To revoke it, take its line out of the file:
a running server notices.

Examples:
  fathom token admin --file tokens
  fathom token metrics --name prometheus --file tokens)";

struct TokenOptions {
  std::string role;
  std::string name = "token";
  std::string file;
};

}  // namespace

Command token_command() {
  auto options = std::make_shared<TokenOptions>();
  Command command = {"token", "Makes a token for fathom serve", kTokenNotes};
  command.options.push_back({.names = "ROLE",
                             .target = &options->role,
                             .what = "What it allows: metrics, viewer or admin",
                             .choices = {"metrics", "viewer", "admin"},
                             .is_required = true});
  command.options.push_back({.names = "--file",
                             .target = &options->file,
                             .what = "The file of tokens, made if it is not there",
                             .is_required = true});
  command.options.push_back({.names = "--name",
                             .target = &options->name,
                             .what = "What the audit log calls it",
                             .type = "NAME",
                             .shows_default = true});
  command.run = [options](Files&) {
    if (options->file == kStandard) {
      throw base::Error("--file -", "tokens are added to a file",
                        "Name one; a file that is called - is ./-");
    }
    const std::string token =
        serve::add_token(options->file, *serve::role_named(options->role), options->name);
    base::say(stdout, token + "\n");
    return Ending{};
  };
  return command;
}

}  // namespace fathom::cli
