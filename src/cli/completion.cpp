#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"

// Completion scripts are made from the command line itself, so they know every command and option.
namespace fathom::cli {
namespace {

constexpr const char* kCompletionNotes = R"(
Examples:
  source <(fathom completion bash)
  fathom completion zsh > "${fpath[1]}/_fathom"
  fathom completion fish > ~/.config/fish/completions/fathom.fish)";

// "--help --top --json …" of one command.
std::vector<std::string> flags_of(const Command& command) {
  std::vector<std::string> flags = {"--help"};
  for (const Option& option : command.options) {
    const std::size_t at = option.names.find("--");
    if (at != std::string::npos) flags.push_back(option.names.substr(at));
  }
  return flags;
}

std::string words(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, " "));
}

std::string bash(const Program& program) {
  std::vector<std::string> names;
  std::string cases;
  for (const Command& command : program.commands) {
    names.push_back(command.name);
    cases += fmt::format("    {}) flags=\"{}\" ;;\n", command.name, words(flags_of(command)));
  }
  return fmt::format(
      "_fathom() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} flags\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$word\"))\n"
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
      words(names), cases);
}

std::string zsh(const Program& program) {
  std::string names;
  std::string cases;
  for (const Command& command : program.commands) {
    names += fmt::format("    '{}:{}'\n", command.name, command.summary);
    cases += fmt::format("    {}) _arguments {} '*:file:_files' ;;\n", command.name,
                         words(flags_of(command)));
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

std::string fish(const Program& program) {
  std::string out;
  for (const Command& command : program.commands) {
    out += fmt::format("complete -c fathom -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                       command.summary);
    for (const std::string& flag : flags_of(command)) {
      out += fmt::format("complete -c fathom -n '__fish_seen_subcommand_from {}' -l {}\n",
                         command.name, flag.substr(2));
    }
  }
  return out;
}

}  // namespace

Command completion_command(const Program& program) {
  auto shell = std::make_shared<std::string>();
  Command command = {"completion", "Prints a completion script for a shell", kCompletionNotes};
  command.positional("SHELL", shell.get(), "bash, zsh or fish");
  command.options.back().choices = {"bash", "zsh", "fish"};
  command.run = [shell, &program](Files&) {
    fmt::print("{}", *shell == "bash"  ? bash(program)
                     : *shell == "zsh" ? zsh(program)
                                       : fish(program));
    return Ending{};
  };
  return command;
}

}  // namespace fathom::cli
