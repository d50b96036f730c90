#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace fathom::cli {
namespace {

constexpr const char* kJson = "--json";
constexpr const char* kMark = "--";

std::string range_text(Range allowed) {
  return std::isinf(allowed.most) ? fmt::format("{} or more", allowed.least)
                                  : fmt::format("{} to {}", allowed.least, allowed.most);
}

template <typename Number>
CLI::Validator checked(const char* kind, Range allowed) {
  const std::string range = range_text(allowed);
  const auto fault = [=](const std::string& word) -> std::string {
    Number number{};
    const char* const end = word.data() + word.size();
    const auto [read_to, problem] = std::from_chars(word.data(), end, number);
    const bool is_number = problem == std::errc() && read_to == end;
    const auto value = static_cast<double>(number);
    if (is_number && value >= allowed.least && value <= allowed.most) return {};  // NaN is neither
    if (is_number && !std::isnan(value)) {
      return fmt::format("{} is out of range, expected {}", word, range);
    }
    return fmt::format("invalid {} '{}', expected {}", kind, word, range);
  };
  return CLI::Validator(fault, {});  // help shows the range with the option's own words
}

CLI::Validator one_of(const std::vector<std::string>& choices) {
  const auto fault = [choices](const std::string& word) -> std::string {
    if (std::ranges::find(choices, word) != choices.end()) return {};
    std::string all = choices.front();
    for (std::size_t i = 1; i < choices.size(); ++i) {
      all += (i + 1 < choices.size() ? ", " : " or ") + choices[i];
    }
    return fmt::format("unknown value '{}', expected {}", word, all);
  };
  return CLI::Validator(fault, {});
}

// What stands for the value in help: nothing for a flag, or for an argument, whose name says it.
std::string value_name(const Option& option) {
  if (!option.type.empty()) return option.type;
  if (!option.choices.empty()) return fmt::format("{}", fmt::join(option.choices, "|"));
  const bool is_flag = std::holds_alternative<bool*>(option.target);
  if (is_flag || !option.names.starts_with('-')) return {};
  const bool is_text = std::holds_alternative<std::string*>(option.target) ||
                       std::holds_alternative<std::vector<std::string>*>(option.target);
  return is_text ? "FILE" : "N";
}

// Its line of help: "Milliseconds between samples, 1 to 10000 (default 10)".
std::string help_line(const Option& option) {
  std::string line = option.what;
  if (!std::isinf(option.range.most)) line += ", " + range_text(option.range);
  if (!option.shows_default) return line;
  const std::string value = std::visit(
      [](const auto* held) -> std::string {
        if constexpr (fmt::is_formattable<std::remove_cvref_t<decltype(*held)>>::value)
          return fmt::format("{}", *held);
        return {};
      },
      option.target);
  return line + fmt::format(" (default {})", value);
}

// Adds an option of each type to CLI11's command line.
class Adder {
 public:
  Adder(CLI::App& app, const Option& option, CLI::Option* input)
      : app_(app), option_(option), input_(input) {}

  CLI::Option* operator()(std::string* into) const { return add(*into); }
  CLI::Option* operator()(std::vector<std::string>* into) const { return add(*into); }
  CLI::Option* operator()(double* into) const {
    return add(*into)->check(checked<double>("number", option_.range));
  }
  CLI::Option* operator()(std::size_t* into) const {
    CLI::Option* const added = add_whole(*into);
    if (option_.zero_is_all) {
      added->transform([](const std::string& word) {
        return word == "0" ? std::to_string(std::numeric_limits<std::int64_t>::max()) : word;
      });
    }
    return added;
  }
  CLI::Option* operator()(int* into) const { return add_whole(*into); }
  CLI::Option* operator()(bool* into) const {
    return app_.add_flag(option_.names, *into, help_line(option_));
  }
  CLI::Option* operator()(Outputs* into) const {
    const auto take = [into,
                       input = option_.may_be_input ? input_ : nullptr](const std::string& word) {
      into->wants_json = true;
      if (word.empty() || input == nullptr || input->count() > 0) {
        into->json = word;
      } else {  // `--json trace.json.gz --top 3`
        input->add_result(word);
        input->run_callback();
      }
    };
    return app_.add_option_function<std::string>(option_.names, take, help_line(option_))
        ->expected(0, 1);
  }

 private:
  template <typename Into>
  CLI::Option* add(Into& into) const {
    return app_.add_option(option_.names, into, help_line(option_));
  }
  template <typename Into>
  CLI::Option* add_whole(Into& into) const {
    return add(into)->check(checked<std::int64_t>("whole number", option_.range));
  }

  CLI::App& app_;
  const Option& option_;
  CLI::Option* input_;
};

void add(CLI::App& app, const Command& command) {
  CLI::App& added = *app.add_subcommand(command.name, command.summary);
  added.group("Commands");
  CLI::Option* input = nullptr;  // the first positional
  for (const Option& option : command.options) {
    CLI::Option* const to = std::visit(Adder(added, option, input), option.target);
    if (!option.choices.empty()) to->check(one_of(option.choices));
    to->type_name(value_name(option));
    if (option.is_required) to->required();
    if (!option.is_listed) to->group("");
    if (input == nullptr && to->get_positional()) input = to;
  }
  if (command.options_come_first) added.positionals_at_end();
  added.footer(command.notes);
}

// CLI11 takes a "--" right after `--json [FILE]` for the end of that option, and not for the mark
// that a program follows; a second one is the mark.
void keep_mark(std::vector<std::string>& words) {
  const auto mark = std::ranges::find(words, kMark);
  if (mark == words.end()) return;
  const std::size_t before = static_cast<std::size_t>(mark - words.begin());
  const auto is_json = [&](std::size_t back) {
    return before >= back && words[before - back] == kJson;
  };
  const bool has_file = is_json(2) && (words[before - 1] == kStandard ||  // as a file
                                       !words[before - 1].starts_with('-'));
  if (is_json(1) || has_file) words.insert(mark, kMark);
}

// The first option that is none of the command's; empty where there is no such word.
std::string unknown_option(const CLI::App& command) {
  for (const std::string& word : command.remaining()) {
    if (word.size() > 1 && word.starts_with('-') && word != kMark) return word;
  }
  return {};
}

std::string problem_with(const CLI::App& command, const CLI::ParseError& error) {
  const std::string unknown = unknown_option(command);
  if (!unknown.empty()) return fmt::format("unknown option '{}'", unknown);
  const std::vector<std::string> left = command.remaining();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !left.empty()) {
    return fmt::format("unexpected argument '{}'", left.back());
  }
  const std::string what = error.what();
  const std::string name = what.substr(0, what.find_first_of(": "));
  if (what.ends_with(" missing"))
    return name + " needs a value";  // "--top: 1 required UINT missing"
  if (what.find("At Most 1") != std::string::npos) return name + " is given more than once";
  return what;
}

// `fathom help report` is `fathom report --help`.
void expand_help(std::vector<std::string>& words) {
  if (words.empty() || words[0] != "help") return;
  const bool names_command = words.size() > 1 && !words[1].starts_with('-');
  words = names_command ? std::vector<std::string>{words[1], "--help"}
                        : std::vector<std::string>{"--help"};
}

// CLI11 would rather show help than name a command that it does not know.
void expect_known(const Program& program, const std::vector<std::string>& words) {
  if (words.empty()) throw BadUsage("a command is required. Try: fathom --help");
  const bool is_known = words[0].starts_with('-') ||
                        std::ranges::any_of(program.commands, [&](const Command& command) {
                          return command.name == words[0];
                        });
  if (!is_known) throw BadUsage(fmt::format("unknown command '{}'. Try: fathom --help", words[0]));
}

std::string describe_misuse(const CLI::App& app, const std::vector<std::string>& words,
                            const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty()) return fmt::format("unknown option '{}'. Try: fathom --help", words[0]);
  return fmt::format("{}. Try: fathom {} --help", problem_with(*chosen[0], error),
                     chosen[0]->get_name());
}

// CLI11 could do it too, and would fill the help with it.
void expect_one_of(const Command& command, const CLI::App& parsed) {
  std::string first;
  for (const std::string& name : command.only_one_of) {
    if (parsed.get_option(name)->count() == 0) continue;
    if (!first.empty()) {
      throw BadUsage(fmt::format("{} and {} cannot be combined. Try: fathom {} --help", first, name,
                                 command.name));
    }
    first = name;
  }
}

}  // namespace

void Command::positional(const std::string& names, Target target, const std::string& what) {
  options.push_back({.names = names, .target = target, .what = what, .is_required = true});
}

void Command::option(const std::string& names, Target target, const std::string& what,
                     Range range) {
  const bool has_default = std::visit(
      [&](const auto* into) {
        using Value = std::remove_cvref_t<decltype(*into)>;
        if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
          return static_cast<double>(*into) >= range.least;
        } else {
          return false;
        }
      },
      target);
  options.push_back({.names = names,
                     .target = target,
                     .what = what,
                     .range = range,
                     .shows_default = has_default});
}

void Command::choice(const std::string& names, std::string& into, std::vector<std::string> choices,
                     const std::string& what) {
  options.push_back({.names = names,
                     .target = &into,
                     .what = what,
                     .choices = std::move(choices),
                     .shows_default = true});
}

void Command::top(std::size_t& into, const std::string& what) {
  option("--top", &into, what);
  options.back().zero_is_all = true;
}

void Command::peak(std::string& into) {
  option("--peak", &into,
         "What the GPU can do, in TFLOP/s and GB/s: fp32=19.5,tf32=156,fp16=312,gbps=1555");
}

void Command::json(Outputs& outputs, const std::string& what, JsonWord word) {
  outputs.document = name;
  options.push_back({.names = kJson,
                     .target = &outputs,
                     .what = what,
                     .type = "[FILE]",
                     .may_be_input = word == JsonWord::may_be_input});
}

const Command* parse(const Program& program, std::vector<std::string> words) {
  CLI::App app(program.summary, program.name);
  app.set_version_flag("--version", program.name + " " + program.version);
  app.footer(program.notes);
  app.get_formatter()->label("REQUIRED", "");
  app.get_formatter()->label("Positionals", "Arguments");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.require_subcommand(1);
  for (const Command& command : program.commands) add(app, command);
  expand_help(words);
  expect_known(program, words);
  keep_mark(words);
  try {
    app.parse(
        std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes the last first
  } catch (const CLI::Success& asked) {                           // --help, --version
    app.exit(asked);
    return nullptr;
  } catch (const CLI::ParseError& error) {
    throw BadUsage(describe_misuse(app, words, error));
  }
  const CLI::App& chosen = *app.get_subcommands().front();
  const auto command = std::ranges::find(program.commands, chosen.get_name(), &Command::name);
  expect_one_of(*command, chosen);
  // CLI11 keeps the mark of positionals, and nothing else can be left over.
  if (command->has_mark != nullptr) *command->has_mark = !chosen.remaining().empty();
  return &*command;
}

}  // namespace fathom::cli
