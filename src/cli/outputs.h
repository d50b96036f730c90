#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): its own name
class App;
class Option;
}  // namespace CLI

namespace fathom::cli {

// Where the answer of a command goes, by one rule for all: text to standard output; with --json
// JSON in its place, or, where --json names a file, JSON to that file beside the text; with -o the
// page.
struct Outputs {
  bool wants_json = false;
  std::string json;  // a file; standard output where it is empty
  std::string page;  // a file; no page where it is empty

  bool wants_text() const { return !wants_json || !json.empty(); }
};

// Adds `--json [FILE]`. Where `input` has been given nothing, the word after --json is the input.
CLI::Option* add_json(CLI::App& command, Outputs& outputs, CLI::Option* input,
                      const std::string& what = "Everything, as JSON");

// Settles what -o and --json mean together, and that neither is a file that is read. A page is not
// called .json: with --json, -o then names the file for it.
void settle(Outputs& outputs);

}  // namespace fathom::cli
