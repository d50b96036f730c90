#pragma once

#include <string>
#include <string_view>

#include "cli/files.h"

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

// Decides what -o and --json mean together, and that neither is a file that is read. A page is not
// called .json: with --json, -o then names the file for it.
void resolve(Outputs& outputs, Files& files);

// Writes text to a file, whole or not at all and never over an input, and says so on standard
// error; to standard output where no file is named.
void write_text(std::string text, const std::string& path, Files& files);

// The same for what `--json` writes. The word after `--json` may be meant as input: a file that is
// there and begins otherwise is not overwritten.
void write_json(std::string text, const std::string& path, Files& files);

// Whether there is a file of this name that does not begin like this.
bool is_something_else(const std::string& path, std::string_view begin);

}  // namespace fathom::cli
