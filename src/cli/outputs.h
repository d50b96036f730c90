#pragma once

#include <string>
#include <string_view>

#include "base/output.h"
#include "cli/files.h"

namespace fathom::cli {

// Where the answer of a command goes, by one rule for all: text to standard output; with --json
// JSON in its place, or, where --json names a file, JSON to that file beside the text; with -o the
// page. "-" names standard output, which gets one of them: a page there stands in for the text.
struct Outputs {
  bool wants_json = false;
  std::string json;      // a file; standard output where it is empty
  std::string page;      // a file; no page where it is empty
  std::string document;  // what the JSON is: its schema's name. Command::json() sets the command's

  bool wants_text() const { return (!wants_json || !json.empty()) && page != kStandard; }
};

// Decides what -o and --json mean together, that neither is a file that is read, and that the page
// does not replace something else, nor JSON. A page is not called .json: with --json, -o then names
// the file for it. `other` is a file that the command writes too.
struct OtherOutput {
  std::string path = {};
  std::string what = {};  // "--chrome"
};
void resolve(Outputs& outputs, Files& files, const OtherOutput& other = {});

// Writes text to standard output where no file is named; else to a file, whole or not at all and
// never over an input, and says so on standard error.
void write_text(std::string text, const std::string& path, Files& files);

// Of what `--json` writes, before there is work to lose. The word after `--json` may be meant as
// input: a file that is there and begins otherwise is not overwritten.
void expect_json(const Outputs& outputs, Files& files);

// The same once more, as the file may have come since; then like write_text.
void write_json(std::string text, const std::string& path, Files& files);

// The same for a page; standard output is written to as it is.
void write_page(std::string html, const std::string& path, Files& files);

// Of what is written for other programs (traces, flame graphs), before there is work to lose: a
// file that is there already may be a trace that cannot be made again, so it is not overwritten.
void expect_new(const std::string& path, const std::string& what_to_do, Files& files);

// That file; of "-", standard output, if it is not a terminal.
base::Output output_to(const std::string& path);

// Whether there is a file of this name that does not begin like this.
bool is_something_else(const std::string& path, std::string_view begin);

}  // namespace fathom::cli
