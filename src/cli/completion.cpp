#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"

// Completion scripts are made from the command line itself, so they know every command and option.
namespace fathom::cli {
namespace {

constexpr const char* kExamples = R"(
Examples:
  source <(fathom completion bash)
  fathom completion zsh > "${fpath[1]}/_fathom"
  fathom completion fish > ~/.config/fish/completions/fathom.fish)";

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// "--top --json …" of one command.
std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::string words(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, " "));
}

std::string bash(const CLI::App& app) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
    cases +=
        fmt::format("    {}) flags=\"{}\" ;;\n", command->get_name(), words(flags_of(*command)));
  }
  return fmt::format(
      "_fathom() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} flags\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{} {}\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}"
      "  esac\n"
      "  case $word in\n"
      "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o filenames -F _fathom fathom\n",
      words(names), words(flags_of(app)), cases);
}

std::string zsh(const CLI::App& app) {
  std::string names;
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    names += fmt::format("    '{}:{}'\n", command->get_name(), command->get_description());
    cases += fmt::format("    {}) _arguments {} '*:file:_files' ;;\n", command->get_name(),
                         words(flags_of(*command)));
  }
  return fmt::format(
      "#compdef fathom\n"
      "_fathom() {{\n"
      "  local -a commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  case $words[2] in\n{}"
      "  esac\n"
      "}}\n"
      "compdef _fathom fathom\n",
      names, cases);
}

std::string fish(const CLI::App& app) {
  std::string out;
  for (const CLI::App* command : commands_of(app)) {
    out += fmt::format("complete -c fathom -n __fish_use_subcommand -a {} -d '{}'\n",
                       command->get_name(), command->get_description());
    for (const std::string& flag : flags_of(*command)) {
      out += fmt::format("complete -c fathom -n '__fish_seen_subcommand_from {}' -l {}\n",
                         command->get_name(), flag.substr(2));
    }
  }
  return out;
}

}  // namespace

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Prints a completion script for a shell");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(kExamples);
  command->callback([&app, shell] {
    fmt::print("{}", *shell == "bash" ? bash(app) : *shell == "zsh" ? zsh(app) : fish(app));
  });
}

}  // namespace fathom::cli
