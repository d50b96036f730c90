#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "cli/files.h"
#include "cli/outputs.h"

// The command line as plain data: what commands there are, their options, and where the values go.
// Parsing is CLI11's, which takes long to compile and is known to command_line.cpp alone.
namespace fathom::cli {

// How the program ends: with a status, or by the signal that ended the program it recorded.
struct Ending {
  int status = 0;
  int signal = 0;
  bool is_the_programs = false;  // whatever becomes of our own output
};

constexpr int kBadUsageOrInput = 2;

// What a number may be, both ends included.
struct Range {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
};

// Where the value of an option goes; the type says what is a value. What it holds is the default.
using Target = std::variant<std::string*, std::vector<std::string>*, double*, std::size_t*, int*,
                            bool*, Outputs*>;

// Whether the word after --json may be the input, where no other has been named.
enum class JsonWord { may_be_input, is_a_file };

// An option, or a positional argument, which has one name in capitals.
struct Option {
  std::string names;  // "--top", "-o,--output", "FILE"
  Target target;
  std::string what;  // one line
  Range range = {};  // of a number
  std::vector<std::string> choices = {};
  std::string type = {};  // shown in place of the type's own name
  bool is_required = false;
  bool shows_default = false;
  bool may_be_input = false;  // JsonWord
  bool zero_is_all = false;   // of a number: 0 stands for the largest
  bool is_listed = true;      // in help; else the command's notes tell of it
};

struct Command {
  std::string name;
  std::string summary;  // one line
  std::string notes;    // what follows the options: examples
  std::vector<Option> options = {};
  std::function<Ending(Files&)> run = {};
  std::vector<std::string> only_one_of = {};  // options that cannot be combined
  bool options_come_first = false;            // from the first positional on, all is a program's
  bool* has_mark = nullptr;                   // told whether "--" stood before the positionals

  void positional(const std::string& names, Target target, const std::string& what);  // required
  void option(const std::string& names, Target target, const std::string& what, Range range = {});
  void choice(const std::string& names, std::string& into, std::vector<std::string> choices,
              const std::string& what);
  // --top; 0 becomes the largest number.
  void top(std::size_t& into, const std::string& what = "Rows per table; 0 for all");
  // --peak, for analyze::parse_peaks.
  void peak(std::string& into);
  // `--json [FILE]`; after the positional.
  void json(Outputs& outputs,
            const std::string& what = "Everything, as JSON; to a file if one is named",
            JsonWord word = JsonWord::may_be_input);
};

struct Program {
  std::string name;
  std::string summary;
  std::string notes;
  std::string version;
  std::vector<Command> commands = {};
};

// What is wrong with the command line, and whose --help says how it is right.
struct BadUsage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The command that the words name, its options set. Where they ask for help or the version, that is
// printed and there is none. Throws BadUsage.
const Command* parse(const Program& program, std::vector<std::string> words);

}  // namespace fathom::cli
